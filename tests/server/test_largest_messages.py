"""What one message may cost: no message delays decisions for long, however large it is."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.server.fakes import DriverHarness, FakeLink
from tests.support.hypothesis_profiles import DEEP

SAMPLES = Path(__file__).parents[1] / "data" / "wire" / "good.jsonl"
SIZE = 2**20 if DEEP else 2**14
"""Bytes that each field of each message is made as large as."""
FEATURES = ["context", "strict", "shown-urls", "local"]
MOST_SECONDS = 1.0
"""CPU time of a turn of the reactor: a guard, three times what is needed on a slow machine."""

LARGE_PATTERN = "regex:(?:" + "x" * 60 + "){1000}x"
TEST = {"testId": "t", "title": "T", "file": "t.py", "workerId": "0"}


@define(eq=False)
class Thread:
    """Stands for a thread: keeps what would be called in it."""

    waiting: list[tuple[Deferred[Any], Callable[..., Any]]] = field(factory=list)

    def __call__(self, function: Callable[..., Any], *args: Any) -> Deferred[Any]:
        made: Deferred[Any] = Deferred()
        self.waiting.append((made, lambda: function(*args)))
        return made

    def work(self) -> None:
        """Call what waits, and what waits after it."""
        while self.waiting:
            made, function = self.waiting.pop(0)
            made.callback(function())


class CostCase(SynchronousTestCase):
    """Measures turns of the reactor in CPU time."""

    def setUp(self) -> None:
        self.harness = DriverHarness()
        self.thread = Thread()
        self.harness.driver.queries.apart = self.thread

    def worker(self) -> FakeLink:
        return self.harness.hello("playwright", workerId="0", features=FEATURES)

    def cost(self, link: FakeLink, payload: bytes) -> float:
        """Return the CPU seconds of the longest turn until a message is handled."""
        began = time.process_time()
        self.harness.driver.link_received(link, payload)
        longest = time.process_time() - began
        while self.harness.clock.getDelayedCalls() and not self.thread.waiting:
            began = time.process_time()
            self.harness.clock.advance(0)
            longest = max(longest, time.process_time() - began)
            if min(call.getTime() for call in self.harness.clock.getDelayedCalls()) > (
                self.harness.clock.seconds()
            ):
                break
        return longest


class LargestMessageTests(CostCase):
    """Messages that are as large, or as dear, as they may be."""

    def dear(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield messages of a worker that are small and once were dear."""
        words = [f"{LARGE_PATTERN}{number}" for number in range(760)]
        small = [f"regex:a{{50}}b{number}" for number in range(900)]
        paths = [f"json:a.b{number}.c" for number in range(1000)]
        for redact in (words, small, paths, ["regex:" + "a?" * 16_000], ["header:" + "a" * 10**6]):
            yield "report:query", {"queryId": "q", "bodyBytes": 9, "redact": redact}
            yield "redact:query", {"queryId": "q", "texts": ["a"], "redact": redact}
        yield "redact:query", {"queryId": "q", "texts": ['{"' * 500_000]}
        yield "redact:query", {"queryId": "q", "texts": ["token=a"] * 100_000}
        yield "report:query", {"queryId": "q", "bodyBytes": 9, "texts": ["token=a"] * 100_000}
        stars = ["http://" + "*a" * 900 + str(number) for number in range(999)]
        door = {"hostsUnderTest": True, "origins": stars}
        yield "test:register", {**TEST, "testId": "d", "door": door, "context": "1" * 32}
        hosts = ["*a" * 990 + str(number) for number in range(1000)]
        marks = ["*a?" * 600 + str(number) for number in range(36)]
        globs = [f"https://h{number}/{{a,b,c}}/**/{{d,e}}" for number in range(1000)]
        wired = [{"urlGlob": "**/a", "conditions": [{"part": "json", "path": ["a"]}] * 100}] * 900
        for allow in (hosts, marks, globs, wired):
            yield "test:strict", {"testId": "t", "allow": allow}
            yield "run:strict", {"queryId": "q", "allow": allow}
            yield "test:register", {**TEST, "testId": "u", "strict": {"allow": allow}}

    def test_dear(self) -> None:
        """Small ones with patterns, and texts: no turn takes long, and the proxy answers."""
        for kind, fields in self.dear():
            with self.subTest(kind=kind, fields=str(fields)[:120]):
                self.setUp()
                worker = self.worker()
                self.harness.send_message(worker, "test:register", **TEST)
                payload = json.dumps({"type": kind, **fields}).encode()
                self.assertLess(self.cost(worker, payload), MOST_SECONDS)
                self.harness.driver.link_closed(worker)

    def test_hello(self) -> None:
        """The words of a worker that shall be secret in shown URLs."""
        for word in (LARGE_PATTERN, "regex:a{50}b", "json:a.b", "x"):
            words = [f"{word}{number}" for number in range(760)]
            hello = {
                "type": "hello",
                "protocolVersion": 3,
                "packageVersion": "0.1.0",
                "role": "playwright",
                "workerId": "0",
                "clientId": "c",
                "features": FEATURES,
                "redact": words,
            }
            link = self.harness.connect()
            self.assertLess(self.cost(link, json.dumps(hello).encode()), MOST_SECONDS)
            self.harness.driver.link_closed(link)

    def test_every_field(self) -> None:
        """Each text and list of each message that the proxy gets, as long as can be."""
        for line in SAMPLES.read_text(encoding="utf-8").splitlines():
            message = json.loads(line)["message"]
            if message["type"] == "hello":
                continue
            for made in inflated(message):
                self.setUp()
                role = self.worker() if self._is_of_worker(message) else self.harness.agent()
                payload = json.dumps(made).encode()
                spent = self.cost(role, payload)
                self.assertLess(spent, MOST_SECONDS * (4 if DEEP else 1), str(made)[:300])
                self.harness.driver.link_closed(role)

    @staticmethod
    def _is_of_worker(message: dict[str, Any]) -> bool:
        return not message["type"].startswith(("request:", "response:", "ws:", "agent:", "socket:"))

    def test_in_a_thread(self) -> None:
        """A large text is redacted in a thread, one at a time, and the answer comes then."""
        one, other = self.worker(), self.worker()
        for link in (one, other):
            payload = {"type": "redact:query", "queryId": "q", "texts": ["token=abc " * 5000]}
            self.cost(link, json.dumps(payload).encode())
        self.assertEqual((len(self.thread.waiting), one.sent, other.sent), (1, [], []))
        self.harness.driver.link_closed(other)
        self.thread.work()
        self.harness.clock.advance(0)
        (answer,) = one.took("redact:result")
        self.assertNotIn("abc", answer["texts"][0])
        self.assertEqual(other.sent, [])


def inflated(value: Any, *, most: int = SIZE) -> Iterator[Any]:
    """Yield a value with each of its texts and lists, one after the other, as long as can be."""
    if isinstance(value, str):
        for piece in ("a", "*", "{a,", "\u00e9", "["):
            yield piece * (most // len(piece))
    elif isinstance(value, list):
        for number, item in enumerate(value[:1]):
            for made in inflated(item, most=most):
                yield [*value[:number], made, *value[number + 1 :]]
        first = value[:1] or ["a"]
        yield first * max(1, most // len(json.dumps(first)))
    elif isinstance(value, dict):
        for name, item in value.items():
            if name == "type":
                continue
            for made in inflated(item, most=most):
                yield {**value, name: made}
