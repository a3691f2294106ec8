"""The agent's filter finds whatever the coordinator's routes match or may match."""

import json
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

from msgspec import to_builtins
from twisted.trial.unittest import SynchronousTestCase

from tests.agent.test_agent import AGENT
from tests.matching.patterns.test_glob import ROWS
from tests.matching.strategies import GLOB_PIECES, HOSTS, URL_PIECES
from tests.support.hypothesis_profiles import DEEP
from trafficmock.core.local.filter_entries import entries_of
from trafficmock.matching import compile_matcher
from trafficmock.matching.patterns.glob_resolution import resolve
from trafficmock.matching.patterns.match_result import MatchResult

GENERATED = 100_000 if DEEP else 2_000


Condition = dict[str, Any]
"""What :func:`compile_matcher` takes."""


def examples() -> Iterator[tuple[Condition, str]]:
    """Give the globs and URLs of the examples."""
    for line in ROWS.read_text("utf-8").splitlines():
        row = json.loads(line)
        glob = resolve(row["glob"], base_url=row["base"], websocket=row["websocket"])
        yield {"url_glob": glob}, row["url"]


def generated(count: int) -> Iterator[tuple[Condition, str]]:
    """Make globs, regular expressions and URLs over few letters, so that they often meet."""
    chance = random.Random(14)  # noqa: S311 - no secret
    pieces = [piece for piece in URL_PIECES if piece.isprintable() and piece.isascii()]
    for _ in range(count):
        host = chance.choice(HOSTS)
        url = f"http://{host}/{''.join(chance.choices(pieces, k=chance.randrange(8)))}"
        text = "".join(chance.choices(GLOB_PIECES, k=chance.randrange(7)))
        beginning = chance.choice(("", "**/", f"http://{host}/", "http://*.test/", "http://*a*/"))
        cut = sorted(chance.choices(range(len(url) + 1), k=2))
        starred = url[: cut[0]] + chance.choice(("*", "**")) + url[cut[1] :]
        glob = chance.choice((beginning + text, starred, url))
        flags = chance.choice(("", "i", "gi", "s", "y", "u"))
        part = f"({re.escape(url[cut[0] : cut[1]])}|{chance.choice(pieces)})"
        regex = re.escape(url[: cut[0]]) + chance.choice(("", "?", ".*", "+")) + part
        yield chance.choice(({"url_glob": glob},) * 3 + ({"url_regex": (regex, flags)},)), url


class LocalFilterTests(SynchronousTestCase):
    """Nothing that a route wants passes unasked."""

    def check(self, pairs: Iterator[tuple[Condition, str]]) -> int:
        """Let the agent's filter look at what matches; give how many that is."""
        wanted = []
        for condition, url in pairs:
            matcher = compile_matcher(**condition)
            if matcher.judge(url, "GET", "app") is not MatchResult.NO:
                entries = [to_builtins(entry) for entry in entries_of(matcher.condition)]
                wanted.append({"entries": entries, "url": url, "of": condition})
        self.assertEqual([wanted[number] for number in self.unasked(wanted)], [])
        return len(wanted)

    def unasked(self, rows: list[dict[str, Any]]) -> list[int]:
        """Give the places of the rows that the agent does not ask about."""
        done = subprocess.run(
            [shutil.which("node") or "node", "test/lib/unasked.mjs"],
            input="".join(f"{json.dumps(each)}\n" for each in rows),
            cwd=AGENT,
            capture_output=True,
            text=True,
            check=True,
            timeout=600,
        )
        return [int(number) for number in done.stdout.split()]

    def test_examples(self) -> None:
        """Every row of the examples that matches is asked about."""
        self.assertGreater(self.check(examples()), 500)

    def test_not_asked_about(self) -> None:
        """What has no text of an entry passes, or these tests could not fail."""
        url, others = "http://h.test/a", [["http://h.test/b"], ["", "/b/", ""], ["http://h.", "/b"]]
        rows = [{"entries": [{"texts": texts}], "url": url} for texts in others]
        self.assertEqual(self.unasked(rows), [0, 1, 2])

    def test_generated(self) -> None:
        """So is whatever matches among many more."""
        self.assertGreater(self.check(generated(GENERATED)), GENERATED // 5)
