"""What ``show`` writes of a WebSocket."""

from __future__ import annotations

import io
from typing import Any, ClassVar

from twisted.trial.unittest import SynchronousTestCase

from tests.command.recorded_proxy import CommandTestCase
from trafficmock.command.output.terminal import Terminal
from trafficmock.command.output.websocket_page import write_socket


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
