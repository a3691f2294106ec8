"""What ``show`` writes of a request and of a WebSocket."""

import io
from typing import Any, ClassVar

from twisted.trial.unittest import SynchronousTestCase

from tests.command.output.test_list_columns import ENTRY
from tests.command.recorded_proxy import CommandTestCase
from trafficmock.command.output.request_page import about_test, claimants, write_request
from trafficmock.command.output.terminal import Terminal
from trafficmock.command.output.websocket_page import write_socket


class RequestPageTests(CommandTestCase):
    """A request with all that is known of it."""

    def page(self, entry_id: str) -> str:
        return self.run_command("show", entry_id).out

    def test_fulfilled(self) -> None:
        """The mock, its owner and both bodies are there."""
        page = self.page("fulfilled")
        self.assertTrue(page.startswith("POST https://pay.example/charges\n  fulfill, 200 OK, "))
        for line in ("  test      pays with a card", '    "amount": 4200', '    "née": "日本"'):
            self.assertIn(line + "\n", page.replace(",\n", "\n"))

    def test_overrides(self) -> None:
        """What a test changed stands as a diff, and the chain can be walked."""
        page = self.page("hop-1")
        url = "url: https://id.example/login"
        self.assertIn(f"  - {url}\n  + {url}?mocked\n  - accept: */*\n  + x-test: 1\n", page)
        self.assertIn("  leads to  hop-2\n", page)
        self.assertIn("  from      hop-1\n", self.page("hop-2"))

    def test_route(self) -> None:
        """A route is known by its pattern and place; an older proxy says its id only."""
        matcher = {"urlGlob": "**/charges", "methods": ["POST", "PUT"], "clientIds": ["shop"]}
        shop = "POST|PUT **/charges of client shop"
        regex = {"urlRegex": {"source": "a+", "flags": "i"}, "predicate": True}
        for entry, wanted in (
            ({"route": {"matcher": matcher, "place": "a.py:12"}}, f"{shop} (a.py:12)"),
            ({"route": {"matcher": regex}}, "/a+/i a predicate"),
            ({"route": {"matcher": {}}}, "any request"),
            ({}, "r1"),
        ):
            facts = dict(about_test({"routeId": "r1", **entry}))
            self.assertEqual(facts["route"], wanted)
        self.assertIn("  route     **/charges\n", self.page("fulfilled"))

    def test_ambiguous(self) -> None:
        """The competing tests are named with their files, and the error is told once."""
        page = self.page("both")
        for line in ("  日本語のテスト", "    tests/t2.spec.ts, worker 0", "    route **/both"):
            self.assertIn(line + "\n", page)
        self.assertEqual(page.count("Ambiguous"), 1)

    def test_claimant_without_a_file(self) -> None:
        """A competing test that is in no file has its worker only."""
        match = {"title": "sells", "file": "", "workerId": "1", "routeId": "r1"}
        lines = list(claimants([match], Terminal(out=io.StringIO(), width=None, coloured=False)))
        self.assertIn("    worker 1", lines)

    def test_upstream_failed(self) -> None:
        """The headline names why a passthrough failed; the words are told once."""
        message = "getaddrinfo EAI_AGAIN api.example"
        events = [{"kind": "upstream_error", "timestamp": 4, "detail": message}]
        entry = {**ENTRY, "id": "a", "outcome": {}, "durationMs": 3, "events": events}
        out = io.StringIO()
        write_request(entry, Terminal(out=out, width=None, coloured=False), full=False)
        page = out.getvalue()
        self.assertTrue(page.startswith("GET http://x/\n  passthrough, EAI_AGAIN, 3 ms\n"), page)
        self.assertIn(f"  error     {message}\n", page)
        self.assertEqual(page.count(message), 1)

    def test_made_for(self) -> None:
        """What nobody got names the test whose context it carried, and the routes of others."""
        made_for = {"title": "buys", "late": True, "alsoMatched": ["q1", "q2"]}
        entry = {**ENTRY, **made_for, "id": "a", "outcome": {}, "events": []}
        out = io.StringIO()
        write_request(entry, Terminal(out=out, width=None, coloured=False), full=False)
        for line in (
            "  test      buys",
            "  late      the test had ended",
            "  others    routes of other tests match: q1, q2",
        ):
            self.assertIn(line + "\n", out.getvalue())

    def test_binary(self) -> None:
        """A body that is no text is shown in hex."""
        self.assertIn("  00000000  89 50 4e 47 ", self.page("passed"))

    def test_timeline(self) -> None:
        """Events have their distance from the start."""
        self.assertRegex(
            self.page("passed"), r"Timeline\n +\+0 ms  observed\n +\+\d+ ms  passthrough\n"
        )


class SocketPageTests(CommandTestCase):
    """A connection with its frames."""

    def test_frames(self) -> None:
        """Frames stand oldest first with their direction; binary ones by their bytes."""
        page = self.run_command("show", "chat").out
        head, _, frames = page.partition("\n\n")
        self.assertIn("matched, closed 1000 bye\n", head)
        message = [line.split(" ", 3)[3] for line in frames.splitlines()[1:]]
        expected = ["· open  observed", "· handler  matched", "· handler  ensureOpened"]
        self.assertEqual(message[:3], expected)
        self.assertTrue(message[3].startswith("→ hello \\x1b]0;owned"))
        self.assertEqual(message[4:6], ["→ 3 bytes: 00 01 ff", "← hi!  (handler sendToPage)"])


class WidthTests(SynchronousTestCase):
    """Long frames."""

    ENTRY: ClassVar[dict[str, Any]] = {
        "id": "s",
        "url": "ws://x",
        "clientId": "c",
        "timestamp": 1,
        "protocols": [],
        "outcome": "passthrough",
        "events": [
            {"timestamp": 2, "direction": "server", "kind": "frame", "truncated": True},
            {"timestamp": 1, "direction": "client", "kind": "frame", "data": "x" * 99},
        ],
    }

    def lines(self, *, full: bool) -> list[str]:
        out = io.StringIO()
        write_socket(self.ENTRY, Terminal(out=out, width=50, coloured=False), full=full)
        return out.getvalue().splitlines()

    def test_cut(self) -> None:
        """On a terminal a frame is one line of its width; ``full`` shows all of it."""
        self.assertIn("  passthrough, open", self.lines(full=False))
        self.assertTrue(all(len(line) <= 50 for line in self.lines(full=False)))
        self.assertIn("x" * 99, self.lines(full=True)[-2])

    def test_dropped(self) -> None:
        """A frame that the byte budget took says so."""
        self.assertIn("the history dropped the frame", self.lines(full=True)[-1])
