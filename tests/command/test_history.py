"""``trafficmock history``."""

import json
import os
import pty
import re
import subprocess
import sys
import termios

from tests.command.recorded_proxy import CommandTestCase
from tests.support.processes.proxy_process import REPOSITORY
from trafficmock.command import history
from trafficmock.command.output.terminal_text import width

SGR = re.compile("\x1b\\[[0-9]+m")
"""What colours are made of."""


class HistoryTests(CommandTestCase):
    """The list of requests."""

    def test_table(self) -> None:
        """Every request is one line, oldest first, with what became of it and the whole id."""
        done = self.run_command("history")
        head, *lines = done.out.splitlines()
        titles = "ID TIME METHOD STATUS ACTION TOOK CLIENT URL TEST"
        self.assertEqual(" ".join(head.split()), titles)
        ids = [line.split()[0] for line in lines]
        hops = ["hop-1", "hop-2", "hop-3"]
        expected = ["fulfilled-1", "aborted-1", "passed-1", *hops, "both-1", "evil-\\x1b[31m"]
        self.assertEqual(ids, expected)
        self.assertRegex(
            lines[0], r"POST +200 +fulfill .* https://pay.example/charges +pays with a card$"
        )
        self.assertRegex(lines[1], r"connectionrefused +abort ")
        self.assertRegex(lines[6], r"ambiguous_route +error .* pays with a card \| 日本語のテスト$")
        self.check_clean(done)
        self.assertEqual((done.status, done.err), (0, ""))

    def test_filters(self) -> None:
        """Filters are those of the REST API, which does the filtering."""
        for words, expected in (
            (["--action", "abort"], ["aborted-1"]),
            (["-q", "teapot"], ["passed-1"]),
            (["--method", "post"], ["fulfilled-1", "aborted-1"]),
            (["--status", "302"], ["hop-1", "hop-2"]),
            (["--status", "3xx", "--limit", "1"], ["hop-2"]),
            (["--method", "POST", "--status", "2xx"], ["fulfilled-1"]),
            (["--test-id", "t1", "-n", "1", "--offset", "3"], ["aborted-1"]),
            (["--client-id", "shop", "--from", "1d", "--limit", "1"], ["evil-\\x1b[31m"]),
        ):
            out = self.run_command("history", *words).out
            self.assertEqual([line.split()[0] for line in out.splitlines()[1:]], expected, words)

    def test_more(self) -> None:
        """Where the usual limit cut the list, it says so; a limit that was given does not."""
        self.patch(history, "LISTED", 3)
        done = self.run_command("history")
        self.assertEqual(len(done.out.splitlines()), 4)
        self.assertEqual(done.err, "trafficmock: these are the newest 3; --all shows all\n")
        self.assertEqual(self.run_command("history", "--limit", "3").err, "")

    def test_json(self) -> None:
        """``--json`` is the proxy's own answer, in ASCII."""
        done = self.run_command("history", "--json")
        self.check_clean(done)
        self.assertTrue(done.out.isascii())
        self.assertEqual(
            json.loads(done.out), self.proxy.get("/api/history?fields=summary&limit=100")
        )

    def test_nothing(self) -> None:
        """Nothing found is status 1, and a table says so; JSON is an empty list."""
        done = self.run_command("history", "-q", "no such thing")
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn("nothing is recorded", done.err)
        done = self.run_command("history", "-q", "no such thing", "--json")
        self.assertEqual((done.status, done.out), (1, '{"entries": []}\n'))

    def test_said_wrongly(self) -> None:
        """Wrong words are status 2, with the usage."""
        for words in (
            ["--limit", "x"],
            ["--action", "eaten"],
            ["--status", "4x"],
            ["--frob"],
            ["stray"],
        ):
            done = self.run_command("history", *words)
            self.assertEqual(done.status, 2, words)
            self.assertRegex(done.err, r"\Atrafficmock history: .*trafficmock history --help`\n\Z")
        done = self.run_command("history", "--follow", "--to", "1m")
        self.assertEqual((done.status, done.out), (2, ""))


class PtyTests(CommandTestCase):
    """The command on a real terminal."""

    def screen(self, columns: int, **environment: str) -> str:
        """Run it on a pseudo-terminal of this width; give what it wrote."""
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, columns))
        kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
        running = subprocess.Popen(
            [sys.executable, "-m", "trafficmock", "history"],
            stdout=theirs,
            stdin=theirs,
            cwd=REPOSITORY,
            env={**kept, **self.environment, "PYTHONUTF8": "1", **environment},
        )
        os.close(theirs)
        read = b""
        while chunk := read_some(ours):
            read += chunk
        os.close(ours)
        self.assertEqual(running.wait(20), 0)
        return read.decode()

    def test_width(self) -> None:
        """No line is wider than the terminal, and every request has one."""
        for columns in (60, 80, 120):
            lines = SGR.sub("", self.screen(columns)).splitlines()
            self.assertEqual(len(lines), 9)
            self.assertLessEqual(max(map(width, lines)), columns)

    def test_sequences(self) -> None:
        """The only escape sequences are our colours, and with NO_COLOR there are none."""
        coloured = self.screen(100)
        self.assertIn("\x1b[33mpassthrough\x1b[0m", coloured)
        for shown in (SGR.sub("", coloured), self.screen(100, NO_COLOR="1")):
            raw = {char for char in shown if not char.isprintable()}
            self.assertEqual(raw, {"\r", "\n"})


def read_some(descriptor: int) -> bytes:
    """Read from a pseudo-terminal; Linux tells its end by an error."""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""
