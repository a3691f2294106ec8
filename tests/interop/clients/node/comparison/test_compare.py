"""Holding a run against another, without running anything."""

import json
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.node.bench import Run
from tests.interop.clients.node.cells import Cell, grouped, judged
from tests.interop.clients.node.comparison import differences
from tests.interop.clients.node.comparison.compare import Change, changes
from tests.interop.clients.node.comparison.differences import Difference, declared
from tests.interop.clients.node.comparison.normal import normal
from tests.interop.clients.node.libraries import LIBRARIES
from tests.interop.clients.node.modes import MODES
from tests.interop.clients.node.program import Ended
from tests.interop.clients.node.report import table
from tests.interop.clients.node.saved import load, save


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

    def test_events(self) -> None:
        """What an application hears of a request is compared, but for what the network decides."""
        heard = ["request socket: open", "request response 200", "request finish", "request close"]
        other = [heard[0], heard[2], heard[1], "socket close", heard[3]]
        self.assertEqual(self.paths("passthrough", run(events=[heard]), run(events=[other])), [])
        twice = [heard[0], *heard]
        for mode in ("passthrough", "mock"):
            paths = self.paths(mode, run(events=[heard]), run(events=[twice]))
            self.assertEqual(paths, ["events.0"])

    def test_reused_connection(self) -> None:
        """Whether a connection is used again depends on the time, and a mock has its own."""
        end = ["request response 200", "request close"]
        connects = ["request socket: connecting", "socket connect", "socket ready"]
        kept, new = (run(events=[[*begin, *end]]) for begin in (["request socket: open"], connects))
        for mode in ("mock", "passthrough"):
            self.assertEqual(self.paths(mode, kept, new), [])
            self.assertEqual(self.paths(mode, new, kept), [])
        silent = run(events=[[connects[0], *end]])
        self.assertEqual(self.paths("passthrough", new, silent), ["events.0"])

    def test_tunnel(self) -> None:
        """A tunnel is opened when its request is sent, and for no mock; TLS begins in it."""
        tunnel = ["request socket: open", "request connect", "request finish", "request close"]
        end = ["request response 200", "request close"]
        through = ["request socket: open", "socket secureConnect", *end]
        straight = ["request socket: connecting", "socket connect", "socket secureConnect", *end]
        before = run(events=[tunnel, through])
        self.assertEqual(self.paths("continue", before, run(events=[through, tunnel])), [])
        self.assertEqual(self.paths("continue", before, run(events=[straight, tunnel])), [])
        self.assertEqual(self.paths("mock", before, run(events=[straight])), [])
        for mode, events in (("mock", [straight, tunnel]), ("continue", [straight])):
            self.assertEqual(self.paths(mode, before, run(events=events)), ["events.length"])

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

    def test_closed_connections(self) -> None:
        """Those of got depend on the time, unless none is used again."""
        for library, now, is_known in (("got", 21, True), ("got", 45, False), ("ky", 21, False)):
            found = declared(library, "passthrough", Change("", "connections", 17, now))
            self.assertEqual(found is not None, is_known, (library, now))

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
            "ok 1 - the calls # time=1375.99ms",
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

    def test_no_calls(self) -> None:
        """A program that made no call has failed, even if the run without the agent is the same."""
        cell = judged(LIBRARIES[0], 20, "mock", 0, (), whole=True)
        self.assertFalse(cell.is_good)
        self.assertIn("| FAILED (20) |", table([cell]))


class WrongTests(SynchronousTestCase):
    """A declared defect has to show in the runs that it is declared for."""

    library = next(each for each in LIBRARIES if each.name == "undici8")
    shows = Change("status 204", "error", "(nothing)", {"name": "TypeError"})
    wrong = Difference(
        "undici 8 refuses it",
        ("passthrough", "continue"),
        "error",
        call="undici8: status 204",
        shown=True,
        surely=(("undici8", 24),),
    )

    def setUp(self) -> None:
        self.patch(differences, "WRONG", (self.wrong,))

    def test_shows(self) -> None:
        """A cell with the defect is good, and the table says on which Node it differs."""
        cell = judged(self.library, 24, "passthrough", 9, (self.shows,), whole=True)
        self.assertTrue(cell.is_good)
        without = judged(self.library, 22, "passthrough", 9, (), whole=True)
        self.assertIn("| differs (24) [1] |", table([without, cell]))

    def test_gone(self) -> None:
        """A cell without it is told as failed, with the reason that was declared."""
        cell = judged(self.library, 24, "passthrough", 9, (), whole=True)
        self.assertFalse(cell.is_good)
        self.assertIn(f"declared, and did not come: {self.wrong.reason}", str(cell))
        self.assertIn("| FAILED (24) |", table([cell]))

    def test_elsewhere(self) -> None:
        """It need not show in other modes, on another Node, or when calls were left out."""
        for node, mode, whole in (
            (24, "mock", True),
            (22, "passthrough", True),
            (24, "passthrough", False),
        ):
            self.assertTrue(judged(self.library, node, mode, 9, (), whole=whole).is_good)


class SavedTests(SynchronousTestCase):
    """Results in files."""

    change = Change("get", "result.headers[a]", ["1"], ["2"])

    def saved(self, library: str, node: int, *found: Change) -> Path:
        """Save a cell, and give the file."""
        wanted = next(each for each in LIBRARIES if each.name == library)
        file = Path(self.mktemp())
        save(file, [judged(wanted, node, "mock", 3, found, whole=True)])
        return file

    def test_joined(self) -> None:
        """The cells of several files come in the order of the libraries and of Node."""
        files = [self.saved("node-http", 20), self.saved("fetch", 24), self.saved("fetch", 20)]
        self.assertEqual(
            [(cell.library.name, cell.node, cell.calls) for cell in load(files)],
            [("fetch", 20, 3), ("fetch", 24, 3), ("node-http", 20, 3)],
        )

    def test_last_counts(self) -> None:
        """A cell that was run again replaces the one before it, with what differed."""
        files = [self.saved("fetch", 20), self.saved("fetch", 20, self.change)]
        (cell,) = load(files)
        self.assertEqual(cell.failed, (self.change,))

    def test_other_version(self) -> None:
        """Results of a version that is not installed are refused."""
        file = self.saved("fetch", 20)
        saved = json.loads(file.read_text())
        file.write_text(json.dumps([{**saved[0], "version": "0.1"}]))
        self.assertIn("Run it again", str(self.assertRaises(ValueError, load, [file])))
