"""Holding a run against another, without running anything."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.clients.node.bench import Run
from tests.clients.node.cells import Cell, grouped
from tests.clients.node.compare import Change, changes
from tests.clients.node.differences import declared
from tests.clients.node.libraries import LIBRARIES
from tests.clients.node.modes import MODES
from tests.clients.node.normal import normal
from tests.clients.node.program import Ended
from tests.clients.node.report import table


def request(**more: Any) -> dict[str, Any]:
    """Make an entry of the server's log."""
    entry = {"scheme": "https", "method": "GET", "host": "a.test", "url": "/", "body": ""}
    return {**entry, "connection": 0, "headers": [["Host", "a.test"]], **more}


def run(*, status: int | None = 0, seconds: float = 0.1, stderr: str = "", **call: Any) -> Run:
    """Make a run of one call."""
    made = {"result": 1, "upstream": [], "seen": [], **call}
    return Run({"get": made}, Ended(status, seconds, "", stderr))


class ChangesTests(SynchronousTestCase):
    """What differs is told by its field."""

    def paths(self, mode: str, before: Run, after: Run) -> list[str]:
        return [change.path for change in changes(MODES[mode], before, after)]

    def test_same(self) -> None:
        """Nothing is told of runs that are the same."""
        same = run(upstream=[request()])
        self.assertEqual(self.paths("passthrough", same, same), [])

    def test_result(self) -> None:
        """A field of a result, and one that is an error instead."""
        before, after = run(result={"a": [1, 2]}), run(result={"a": [1, 3]})
        self.assertEqual(self.paths("passthrough", before, after), ["result.a.1"])

    def test_headers(self) -> None:
        """Headers are compared by name, spelling and order."""
        before = run(upstream=[request(headers=[["A", "1"], ["B", "2"]])])
        for headers, path in (
            ([["A", "1"], ["B", "3"]], "upstream.0.headers[b]"),
            ([["a", "1"], ["B", "2"]], "upstream.0.headers.case"),
            ([["B", "2"], ["A", "1"]], "upstream.0.headers.order"),
        ):
            after = run(upstream=[request(headers=headers)])
            self.assertEqual(self.paths("passthrough", before, after), [path])

    def test_mock(self) -> None:
        """What a test is asked is what the server gets otherwise, and the server gets nothing."""
        before = run(upstream=[request()])
        seen = {"method": "GET", "url": "https://a.test/", "body": ""}
        self.assertEqual(self.paths("mock", before, run(seen=[seen])), [])
        self.assertEqual(
            self.paths("mock", before, run(seen=[{**seen, "body": "x"}])), ["seen.0.body"]
        )
        self.assertIn("reached the server", self.paths("mock", before, before))

    def test_connections(self) -> None:
        """More connections than one more are told."""
        used = [[request(connection=number) for number in range(count)] for count in (1, 2, 4)]
        before, one_more, many = (run(upstream=entries) for entries in used)
        self.assertNotIn("connections", self.paths("passthrough", before, one_more))
        self.assertIn("connections", self.paths("passthrough", before, many))

    def test_end(self) -> None:
        """Output, status and a late end are told."""
        after = run(status=None, seconds=4.0, stderr="oh")
        self.assertEqual(self.paths("abort", run(), after), ["status", "stderr", "exit"])


class WordsTests(SynchronousTestCase):
    """What is told of it."""

    def test_normal(self) -> None:
        """What is new in each run is no difference."""
        for value in (
            "----------------------------00e659c1070bcab6ac9455fb",
            "0b7e2a4c-1111-2222-3333-444455556666",
            "connect ECONNREFUSED 127.0.0.1:4711",
        ):
            self.assertNotEqual(normal([{"a": value}]), [{"a": value}])
        self.assertEqual(normal({"a": ["text", 1]}), {"a": ["text", 1]})

    def test_grouped(self) -> None:
        """A change of many calls is told once."""
        both = [Change(call, "result", 1, 2) for call in ("get", "post")]
        self.assertEqual(grouped(both), ["result: 1 -> 2 [get, post]"])

    def test_table(self) -> None:
        """A failed mode names its Node; notes are numbered below."""
        library = LIBRARIES[0]
        bad = Change("", "exit", 0, 9)
        note = declared("undici7", "mock", Change("hints", "result.0.length", 2, 0))
        assert note is not None
        cells = [
            Cell(library, 20, "passthrough", 3, (bad,), ()),
            Cell(library, 20, "mock", 3, (), (note,)),
        ]
        text = table(cells)
        self.assertIn("| FAILED (20) | ok [1] | - | - | - | FAILED |", text)
        self.assertIn(f"1. {note.reason}", text)
