"""What a client of the forward proxy gets where strict mode refuses its request."""

import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import GET, FakeTransport, ForwardProxyHarness
from tests.proxy.websocket.harness import OPEN
from tests.server.fakes import DriverHarness, FakeLink
from trafficmock.core.settings import Settings
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.matching.host_pattern import read_host_pattern
from trafficmock.proxy.downstream.connect_sniffing import SILENCE_SECONDS
from trafficmock.proxy.proxy_settings import ProxySettings

CONTEXT = "1" * 32
CARRIED = b"Baggage: trafficmock.test=%s\r\n" % CONTEXT.encode()


def with_context(message: bytes) -> bytes:
    return message.replace(b"\r\n\r\n", b"\r\n%s\r\n" % CARRIED)


class RefusalTests(SynchronousTestCase):
    """A strict test, whose requests come through the forward proxy."""

    def setUp(self) -> None:
        self.rig = ForwardProxyHarness()
        self.worker = self.register()

    def register(self) -> FakeLink:
        core = self.rig.core
        link = core.hello("playwright", features=["context", "strict", "subscribe"])
        core.send_message(
            link,
            "test:register",
            testId="t1",
            title="T",
            file="t",
            workerId="0",
            context=CONTEXT,
            strict={"allow": ["allowed.test"]},
        )
        link.took("test:registered")
        return link

    def assert_refused(self, answer: bytes, *, body: bool = True) -> None:
        """See that an answer is a refusal, and that no server was asked."""
        head, _, content = answer.partition(b"\r\n\r\n")
        self.assertTrue(
            head.startswith(b"HTTP/1.1 403 Refused by strict mode of trafficmock\r\n"), head
        )
        self.assertIn(b"\r\nvia: 1.1 trafficmock (unmatched_request)\r\n", head)
        self.assertIn(b"; error=http_request_denied;", head)
        self.assertEqual(self.rig.servers, [])
        if body:
            error = json.loads(content)
            self.assertEqual(error["error"], "unmatched_request")
            self.assertIn(
                "is not mocked, and strict mode allows only allowed.test", error["message"]
            )
        (told,) = self.worker.took("proxy:error")
        self.assertEqual((told["code"], told["testId"]), ("unmatched_request", "t1"))

    def test_request(self) -> None:
        """It is refused, and the connection goes on."""
        client = self.rig.ask(with_context(GET))
        self.assert_refused(client.took())
        client.sends(with_context(GET.replace(b"GET", b"HEAD")))
        self.assert_refused(client.took(), body=False)

    def test_behind_connect(self) -> None:
        """So is what is said in the tunnel."""
        client = self.rig.ask(b"CONNECT api.test:80 HTTP/1.1\r\nHost: api.test\r\n\r\n")
        client.took()
        client.sends(with_context(b"GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n"))
        self.assert_refused(client.took())

    def test_websocket(self) -> None:
        """The handshake of a WebSocket is answered in the same way."""
        self.assert_refused(self.rig.ask(with_context(OPEN)).took())

    def test_allowed(self) -> None:
        """What is allowed goes to its server, with the test's context or without one."""
        allowed = GET.replace(b"api.test", b"allowed.test")
        self.rig.ask(with_context(allowed))
        self.rig.ask(allowed)
        self.assertEqual(len(self.rig.servers), 2)
        self.assertEqual(self.worker.took(), [])

    def test_without_a_context(self) -> None:
        """What carries no context is refused while no other test runs."""
        self.rig.ask(GET)
        self.assertEqual(self.rig.servers, [])


class TunnelTests(SynchronousTestCase):
    """Tunnels that are not read, where the service is strict: the host decides."""

    def rig(self, **settings: Any) -> ForwardProxyHarness:
        strict = Settings(
            version="1.2.3",
            strict=read_allow_list(["allowed.test"]),
            own_hosts=(read_host_pattern("own.test"),),
        )
        return ForwardProxyHarness(ProxySettings(**settings), DriverHarness(strict))

    def connect(self, rig: ForwardProxyHarness, server: bytes) -> FakeTransport:
        return rig.ask(b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (server, server))

    def assert_entry(self, rig: ForwardProxyHarness, url: str) -> None:
        entry = rig.entry()
        self.assertEqual((entry["request"]["method"], entry["request"]["url"]), ("CONNECT", url))
        self.assertEqual(entry["outcome"]["code"], "unmatched_request")

    def test_left_alone(self) -> None:
        """CONNECT to a host of ``--tunnel`` is answered with 403."""
        rig = self.rig(tunnels=(read_host_pattern("*.test"),))
        client = self.connect(rig, b"db.test:5432")
        head, _, content = client.took().partition(b"\r\n\r\n")
        self.assertTrue(
            head.startswith(b"HTTP/1.1 403 Refused by strict mode of trafficmock\r\n"), head
        )
        error = json.loads(content)
        self.assertEqual(error["error"], "unmatched_request")
        self.assertEqual(
            error["message"],
            "CONNECT https://db.test:5432/ is a tunnel that is not read, and strict mode allows "
            "only allowed.test. It carries the context of no test. Allow db.test:5432.",
        )
        self.assertEqual(rig.dialer.asked, [])
        self.assert_entry(rig, "https://db.test:5432/")

    def test_allowed(self) -> None:
        """One to a host that is allowed, or is under test, is opened."""
        for server in (b"allowed.test:5432", b"ALLOWED.test.:1", b"own.test:1"):
            rig = self.rig(tunnels=(read_host_pattern("*"),))
            client = self.connect(rig, server)
            self.assertTrue(client.took().startswith(b"HTTP/1.1 200"), server)
            self.assertEqual(len(rig.servers), 1, server)

    def test_unread_protocol(self) -> None:
        """What turns out to be another protocol ends, and no server is asked."""
        for data in (b"\x00\x01", b"SSH-2.0-x\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            rig = self.rig()
            client = self.connect(rig, b"db.test:22")
            client.took()
            client.sends(data)
            self.assertTrue(client.aborted)
            self.assertEqual((client.took(), rig.dialer.asked), (b"", []))
            self.assert_entry(rig, "https://db.test:22/")

    def test_unopened_tls(self) -> None:
        """So does TLS that is not opened."""
        rig = self.rig(opens_tls=False)
        client = self.connect(rig, b"db.test:443")
        client.sends(b"\x16\x03\x01")
        self.assertEqual((client.aborted, rig.dialer.asked), (True, []))

    def test_silent_client(self) -> None:
        """For a client that says nothing no server is asked; its late request is judged."""
        rig = self.rig()
        client = self.connect(rig, b"api.test:80")
        client.took()
        rig.core.clock.advance(SILENCE_SECONDS)
        self.assertEqual((rig.dialer.asked, client.aborted), ([], False))
        client.sends(b"GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n")
        self.assertTrue(client.took().startswith(b"HTTP/1.1 403"))

    def test_strict_meanwhile(self) -> None:
        """A server that speaks first is not heard once a run has become strict."""
        rig = ForwardProxyHarness()
        client = self.connect(rig, b"db.test:25")
        client.took()
        rig.core.clock.advance(SILENCE_SECONDS)
        worker = rig.core.hello("playwright", features=["strict"])
        rig.core.send_message(worker, "run:strict", queryId="q", allow=[])
        rig.servers[0].sends(b"220 ready")
        self.assertEqual((client.took(), client.aborted), (b"", True))
        self.assertTrue(rig.servers[0].disconnecting)
        rig.core.send_message(worker, "run:unmatched:query", queryId="r")
        _, rows = worker.took("run:stricted", "run:unmatched")
        self.assertEqual([row["method"] for row in rows["requests"]], ["CONNECT"])

    def test_only_test(self) -> None:
        """Without a strict service it counts for the only test that is there."""
        rig = ForwardProxyHarness(ProxySettings(tunnels=(read_host_pattern("*"),)))
        worker = rig.core.hello("playwright", features=["strict"])
        rig.core.send_message(
            worker,
            "test:register",
            testId="t",
            title="T",
            file="f",
            workerId="0",
            strict={"allow": []},
        )
        worker.took("test:registered")
        self.assertTrue(self.connect(rig, b"db.test:1").took().startswith(b"HTTP/1.1 403"))
        (told,) = worker.took("proxy:error")
        self.assertEqual((told["code"], told["testId"]), ("unmatched_request", "t"))
