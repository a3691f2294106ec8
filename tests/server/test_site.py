"""The site: its root, connections in number, and no cost for logs."""

import re

from hypothesis import given
from hypothesis import strategies as st
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.http_client import Answer, Connection, Service
from trafficmock.http.access import AccessPolicy
from trafficmock.http.http_limits import HttpLimits
from trafficmock.http.this_service import ThisService

UPGRADE = {"upgrade": "websocket", "connection": "keep-alive, Upgrade"}


class WebSocketDoorTests(SynchronousTestCase):
    """/ws."""

    def upgrade(self, service: Service, head: str) -> Connection:
        connection = service.connect()
        connection.send(
            f"GET /ws{head}connection: Upgrade\r\nupgrade: WebSocket\r\n\r\nearly".encode()
        )
        return connection

    def test_upgrade(self) -> None:
        """A handshake is handed over, whatever the query, with what was sent behind it."""
        for query in ("", "?x=1"):
            service = Service()
            connection = self.upgrade(service, f"{query} HTTP/1.1\r\nhost: localhost\r\n")
            self.assertIs(connection.transport.protocol, service.websocket)
            self.assertEqual(service.websocket.received, b"early")
            self.assertIsNone(connection.transport.producer)
            self.assertEqual(service.clock.getDelayedCalls(), [])

    def test_counted(self) -> None:
        """An upgraded connection counts as open until its new protocol loses it."""
        service = Service()
        connection = self.upgrade(service, " HTTP/1.1\r\nhost: localhost\r\n")
        self.assertEqual(service.site.connections.open, 1)
        connection.lose()
        self.assertEqual((service.site.connections.open, service.websocket.lost), (0, 1))

    def test_plain(self) -> None:
        """Without an upgrade it is 426, naming the protocol to upgrade to, without CORS."""
        for headers in (
            {},
            {"upgrade": "websocket"},
            {"connection": "upgrade"},
            {"upgrade": "h2c", "connection": "upgrade"},
        ):
            answer = Service().ask("/ws", **headers)
            self.assertEqual((answer.status, answer.json()["error"]), (426, "upgrade_required"))
            self.assertEqual(answer.headers["upgrade"], "websocket")
            self.assertEqual(answer.headers["connection"].lower(), "upgrade")
            self.assertNotIn("access-control-allow-origin", answer.headers)

    def test_methods(self) -> None:
        """Only GET opens a WebSocket; it is no path of the API."""
        self.assertEqual(Service().ask("/ws", method="OPTIONS").status, 404)
        answer = Service().ask("/ws", method="POST", **UPGRADE)
        self.assertEqual((answer.status, answer.headers["allow"]), (405, "GET, HEAD"))
        self.assertEqual(Service().ask("/ws", method="HEAD", **UPGRADE).status, 426)

    def test_foreign_page(self) -> None:
        """A foreign page is refused before the upgrade; a local and an allowed one are not."""
        service = Service(guard=AccessPolicy(cors_origins=["http://app.example"]))
        answer = service.ask("/ws", origin="http://evil.example", **UPGRADE)
        self.assertEqual((answer.status, answer.json()["error"]), (403, "origin_not_allowed"))
        for origin in ("http://localhost:3000", "http://app.example"):
            self.upgrade(service, f" HTTP/1.1\r\nhost: localhost\r\norigin: {origin}\r\n")
        self.assertEqual(service.websocket.received, b"earlyearly")

    def test_other_paths(self) -> None:
        """An upgrade anywhere else is 404."""
        for path in ("/ws/", "/", "/WS", "/%77s"):
            self.assertEqual(Service().ask(path, **UPGRADE).status, 404, path)


class HostDoorTests(SynchronousTestCase):
    """The Host header on every door."""

    def test_rebinding(self) -> None:
        """A foreign Host is 403 on every door, without CORS."""
        for path, more in (
            ("/health", {}),
            ("/api/history", {}),
            ("/nope", {}),
            ("/ws", {}),
            ("/ws", UPGRADE),
        ):
            answer = Service().ask(path, host="evil.example:4310", **more)
            self.assertEqual((answer.status, answer.json()["error"]), (403, "host_not_allowed"))
            self.assertNotIn("access-control-allow-origin", answer.headers)

    def test_allowed(self) -> None:
        """The bound address and allowed names are let in."""
        service = Service(guard=AccessPolicy(service=ThisService(allowed_hosts=["box"])))
        self.assertEqual(service.ask("/health", host="box:80").status, 200)
        self.assertEqual(service.ask("/health", host="10.0.0.1", bound="10.0.0.1").status, 200)

    def test_missing(self) -> None:
        """HTTP/1.1 needs exactly one Host; HTTP/1.0 may do without."""
        for head in ("HTTP/1.1", "HTTP/1.1\r\nhost: localhost\r\nhost: localhost"):
            self.assertEqual(self.raw(f"GET /health {head}").status, 400, head)
        self.assertEqual(self.raw("GET /health HTTP/1.0").status, 200)

    def raw(self, head: str) -> Answer:
        connection = Service().connect()
        connection.send(f"{head}\r\n\r\n".encode("latin-1"))
        return connection.take()

    @given(
        st.text(st.characters(max_codepoint=255, exclude_characters="\0\r\n"), max_size=30),
        st.text(st.characters(max_codepoint=255, exclude_characters="\0\r\n"), max_size=30),
    )
    def test_any_header(self, host: str, origin: str) -> None:
        """No Host and no Origin makes a 500 or a traceback."""
        answer = self.raw(f"GET /api/history HTTP/1.1\r\nhost: {host}\r\norigin: {origin}")
        self.assertIn(answer.status, (200, 403))
        self.assertEqual(self.flushLoggedErrors(), [])


GOOD = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"


class SiteTests(SynchronousTestCase):
    """Many connections, many requests."""

    def test_too_many(self) -> None:
        """One connection too many gets a 503 and is closed; the others go on."""
        service = Service(limits=HttpLimits(max_connections=2))
        first, _ = service.connect(), service.connect()
        third = service.connect()
        answer = third.take()
        self.assertEqual((answer.status, answer.json()["error"]), (503, "too_many_connections"))
        self.assertTrue(third.transport.disconnecting)
        third.lose()
        self.assertEqual(service.site.connections.open, 2)
        first.send(GOOD)
        self.assertEqual(first.take().status, 200)
        first.lose()
        fourth = service.connect()
        fourth.send(GOOD)
        self.assertEqual(fourth.take().status, 200)

    def test_no_access_log(self) -> None:
        """Requests are not logged, and no clock runs for a log."""
        service = Service()
        service.site.startFactory()
        self.assertEqual(service.clock.getDelayedCalls(), [])
        with capturedLogs() as events:
            self.assertEqual(service.ask("/health").status, 200)
        self.assertEqual(events, [])
        service.site.stopFactory()

    def test_keep_alive(self) -> None:
        """A connection serves request after request, pipelined ones in order."""
        service = Service()
        connection = service.connect()
        connection.send(GOOD * 3 + b"GET /ws HTTP/1.1\r\nhost: localhost\r\n\r\n")
        data = connection.transport.value()
        statuses = re.findall(rb"HTTP/1.1 ([0-9]+)", data)
        self.assertEqual(statuses, [b"200", b"200", b"200", b"426"])

    def test_nothing_left(self) -> None:
        """A connection that is lost leaves no timer and is not counted."""
        service = Service()
        connection = service.connect()
        connection.send(GOOD)
        connection.lose()
        self.assertEqual(service.clock.getDelayedCalls(), [])
        self.assertEqual(service.site.connections.open, 0)
