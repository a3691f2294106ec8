"""Texts of which the proxy removes the secrets, before this process writes them."""

import json
import os
import socket
import threading
from contextlib import closing
from typing import Any
from unittest.mock import patch

from twisted.trial.unittest import SynchronousTestCase
from websockets.sync.server import ServerConnection, serve

from trafficmock.testing.redacted_texts import redacted_texts

RESULT = {"type": "redact:result", "queryId": "texts", "texts": ["[redacted:0]"]}


class RedactedTextsTests(SynchronousTestCase):
    """A proxy that says what the test wants."""

    def asked(self, *answers: Any) -> tuple[list[str], list[Any]]:
        """Ask for one text; return what comes of it, and what the proxy got."""
        got: list[Any] = []

        def talk(connection: ServerConnection) -> None:
            got.extend(json.loads(connection.recv()) for _ in range(2))
            for each in answers:
                connection.send(json.dumps(each))

        with serve(talk, "127.0.0.1", 0) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                port = server.socket.getsockname()[1]
                return redacted_texts(["token=a"], f"http://127.0.0.1:{port}", "hush"), got
            finally:
                server.shutdown()
                thread.join()

    def test_marks(self) -> None:
        """The texts have the marks of the proxy, which is told what else is secret."""
        with patch.dict(os.environ, {"TRAFFICMOCK_REPORT_REDACT": "query:shop"}):
            texts, got = self.asked({"type": "hello:ok"}, RESULT)
        self.assertEqual(texts, ["[redacted:0]"])
        hello, query = got
        self.assertEqual((hello["type"], hello["token"]), ("hello", "hush"))
        self.assertEqual((query["texts"], query["redact"]), (["token=a"], ["query:shop"]))

    def test_refused(self) -> None:
        """Without an answer, no part of a text is shown, but why."""
        for answers, reason in (
            ([{"type": "hello:error", "code": "unauthorized", "message": "no token"}], "no token"),
            ([{"type": "hello:ok"}, RESULT | {"error": "no field", "texts": []}], "no field"),
            ([{"type": "hello:ok"}], "received 1000"),
        ):
            (text,), _ = self.asked(*answers)
            self.assertIn(f"(the proxy could not remove its secrets: {reason}", text)
            self.assertNotIn("token=a", text)

    def test_gone(self) -> None:
        """So it is where no proxy answers; there is nothing to hide in an empty text."""
        with closing(socket.create_server(("127.0.0.1", 0))) as taken:
            port = taken.getsockname()[1]
        for url in (f"http://127.0.0.1:{port}", "no URL"):
            first, second = redacted_texts(["token=a", ""], url, None)
            self.assertIn("(the proxy could not remove its secrets: ", first)
            self.assertNotIn("token=a", first)
            self.assertEqual(second, "")

    def test_nothing_to_ask(self) -> None:
        """Nobody is asked for empty texts, or where nothing is secret."""
        self.assertEqual(redacted_texts(["", ""], "no URL", None), ["", ""])
        with patch.dict(os.environ, {"TRAFFICMOCK_REPORT_REDACT": "off"}):
            self.assertEqual(redacted_texts(["token=a"], "no URL", None), ["token=a"])
