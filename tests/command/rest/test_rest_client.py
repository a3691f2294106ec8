"""What commands ask REST for, and what an id means."""

import json
import socket
import threading

from twisted.trial.unittest import SynchronousTestCase

from tests.command.recorded_proxy import CommandTestCase
from tests.command.traffic import HOSTILE
from trafficmock.command import har, show
from trafficmock.command.exit_status import CommandError
from trafficmock.command.rest.id_lookup import completed_ids, find
from trafficmock.command.rest.list_resources import REQUESTS
from trafficmock.command.rest.rest_client import RestClient, UnreachableError, entry_path

HEAD = b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n%s"


def answer(status: int, body: bytes) -> bytes:
    return HEAD % (status, len(body), body)


class ScriptedServer:
    """Answers one request on each connection with given bytes, then hangs up."""

    def __init__(self, *answers: bytes) -> None:
        self.asked: list[bytes] = []
        self._answers = answers
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        for message in self._answers:
            connection, _ = self._listener.accept()
            with connection:
                self.asked.append(connection.recv(65536))
                connection.sendall(message)

    def close(self) -> None:
        """End it; all its answers must have been fetched."""
        self._thread.join(20)
        self._listener.close()


class ClientTests(CommandTestCase):
    """What comes back from the real proxy."""

    def test_etag(self) -> None:
        """Asking again with the tag is answered by 304, over the same connection."""
        client = RestClient.at(self.proxy.url)
        self.addCleanup(client.close)
        first = client.get("/api/history", {"limit": 1, "q": None})
        self.assertEqual((first.status, len(first.document["entries"])), (200, 1))
        again = client.get("/api/history", {"limit": 1}, first.etag)
        self.assertEqual((again.status, again.document, again.etag), (304, {}, first.etag))
        self.assertEqual(client.lost, 0)

    def test_refused(self) -> None:
        """What the proxy refuses is an error with its own words, status 4."""
        client = RestClient.at(self.proxy.url)
        self.addCleanup(client.close)
        error = self.assertRaises(CommandError, client.get, "/api/history", {"limit": "x"})
        self.assertEqual(error.status, 4)
        self.assertRegex(str(error), "400: limit must be a whole number")

    def test_paths(self) -> None:
        """Ids are escaped in paths."""
        self.assertEqual(
            entry_path("history", "a/b ?é", "/har"), "/api/history/a%2Fb%20%3F%C3%A9/har"
        )


class OddServerTests(SynchronousTestCase):
    """What comes back from others."""

    def server(self, *answers: bytes) -> tuple[ScriptedServer, RestClient]:
        server = ScriptedServer(*answers)
        self.addCleanup(server.close)
        return server, RestClient.at(server.url + "/below/")

    def test_no_proxy(self) -> None:
        """Whoever does not speak our JSON, or no HTTP, is no proxy: status 3."""
        for message in (answer(200, b"<html>"), answer(404, b"[]"), b"SSH-2.0-x\r\n", b""):
            _, client = self.server(message)
            error = self.assertRaises(UnreachableError, client.get, "/health")
            self.assertEqual(error.status, 3)

    def test_hostile(self) -> None:
        """What an odd server says reaches no terminal raw."""
        refusal = json.dumps({"message": HOSTILE}).encode()
        for message in (b"\x1b[31mSSH\r\n", answer(400, refusal)):
            _, client = self.server(message)
            error = self.assertRaises(CommandError, client.get, "/health")
            self.assertTrue(str(error).isprintable(), str(error))

    def test_strangers_json(self) -> None:
        """JSON that no proxy of ours speaks, however deep, is a stranger's."""
        for body in (b"{}", b'{"entries": [1]}', b'{"entries": [{}]}', b"[" * 100_000):
            server, client = self.server(answer(200, body))
            self.assertRaises(UnreachableError, REQUESTS.get, client, {})
            client.close()
            server.close()
        server, client = self.server(answer(200, b'{"entry": 1}'))
        self.assertRaises(UnreachableError, find, client, "a")
        client.close()

    def test_connection_lost(self) -> None:
        """A connection that went away in between is opened anew, and counted."""
        server, client = self.server(answer(200, b"{}"), answer(200, b'{"a": 1}'))
        client.get("/one")
        self.assertEqual((client.get("/two").document, client.lost), ({"a": 1}, 1))
        self.assertTrue(server.asked[1].startswith(b"GET /below/two HTTP/1.1\r\n"))
        client.close()


class FindTests(CommandTestCase):
    """Ids and beginnings of ids."""

    def setUp(self) -> None:
        super().setUp()
        self.client = RestClient.at(self.proxy.url)
        self.addCleanup(self.client.close)

    def test_beginnings(self) -> None:
        """An id, or what only one id begins with, finds requests and WebSockets."""
        for given, expected in (("hop-1", "hop-1"), ("pas", "passed-1"), ("c", "chat-1")):
            self.assertEqual(find(self.client, given).entry["id"], expected)
        self.assertEqual(find(self.client, "evil-\x1b").entry["id"], "evil-\x1b[31m")

    def test_odd_ids(self) -> None:
        """An id may hold whatever a path does not take."""
        for given in ("a/b", "?", "%", "..", "\udcff", "é", "#"):
            error = self.assertRaises(CommandError, find, self.client, given)
            self.assertEqual(error.status, 1)

    def test_where(self) -> None:
        """HARs are made of requests only."""
        self.assertRaises(CommandError, find, self.client, "chat-1", [REQUESTS])

    def test_completion(self) -> None:
        """A shell is offered the ids that fit, of the kinds that the command takes."""
        url = ["--proxy-url", self.proxy.url]
        both = show.parser().parse_args([*url, "x"])
        self.assertEqual(sorted(completed_ids("h", both)), ["hop-1", "hop-2", "hop-3"])
        self.assertEqual(completed_ids("ch", both), ["chat-1"])
        self.assertEqual(completed_ids("ch", har.parser().parse_args([*url, "x"])), [])
        self.assertEqual(completed_ids("evil", both), [])

    def test_completion_without_proxy(self) -> None:
        """Without a proxy nothing is offered, and nothing is said."""
        gone = show.parser().parse_args(["--proxy-url", "http://127.0.0.1:2", "x"])
        self.assertEqual(completed_ids("h", gone), [])
