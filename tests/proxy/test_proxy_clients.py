"""The forward proxy as the coordinator sees it."""

from typing import Any

from attrs import define, field
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import GET, ForwardProxyHarness
from trafficmock.proxy.proxy_clients import MOST_IDLE_CLIENTS, ProxyClient, ProxyClients
from trafficmock.server.rest.connections_report import connections_report
from trafficmock.wire import inbound, outbound


@define(eq=False)
class Coordination:
    """Keeps what it is told."""

    tunnels: Any = None
    calls: list[Any] = field(factory=list)
    claimed: set[str] = field(factory=set)

    def is_reserved(self, context_id: str) -> bool:
        return context_id in self.claimed

    def client_opened(self, proxy_client: ProxyClient, hello: inbound.Hello) -> None:
        self.calls.append(("opened", proxy_client.client_id, hello.role, hello.features))

    def client_sent(self, proxy_client: ProxyClient, message: Any) -> None:
        self.calls.append((proxy_client.client_id, message))

    def client_closed(self, proxy_client: ProxyClient) -> None:
        self.calls.append(("closed", proxy_client.client_id))

    def client_recorded(self, record: Any) -> None:
        self.calls.append(record)

    def socket_backlogged(self, socket: Any) -> None:
        self.calls.append(("backlogged", socket))

    def socket_drained(self, socket: Any) -> None:
        self.calls.append(("drained", socket))

    def socket_gone(self, socket: Any) -> None:
        self.calls.append(("gone", socket))


class Subject:
    """Keeps what it is told, unless it fails at that."""

    def __init__(self, error: Exception | None = None) -> None:
        self.events: list[Any] = []
        self.error = error

    def on_message(self, message: Any) -> None:
        if self.error is not None:
            raise self.error
        self.events.append(message)

    def crashed(self) -> None:
        self.events.append("crashed")

    def stopped(self) -> None:
        self.events.append("stopped")


class ProxyClientTests(SynchronousTestCase):
    """One client id."""

    def setUp(self) -> None:
        self.clock, self.core = Clock(), Coordination()
        self.proxy_client = ProxyClient(self.core, "shop", self.clock)

    def test_alive(self) -> None:
        """A ping is answered."""
        self.proxy_client.deliver(inbound.Ping(7))
        self.assertEqual(self.core.calls, [("shop", inbound.Pong(7))])

    def test_subjects(self) -> None:
        """A message reaches the request or WebSocket that it is about; others are nobody's."""
        receiver = self.proxy_client.receivers["a"] = Subject()
        message = outbound.DecisionPassthrough("a")
        self.proxy_client.deliver(message)
        self.proxy_client.deliver(outbound.DecisionPassthrough("b"))
        self.proxy_client.deliver(outbound.SocketPassthrough("a"))
        self.assertEqual(receiver.events, [message, outbound.SocketPassthrough("a")])

    def test_trouble(self) -> None:
        """Trouble of one request is logged, ends it, and stays its own."""
        receiver = self.proxy_client.receivers["a"] = Subject(ZeroDivisionError())
        self.proxy_client.deliver(outbound.DecisionPassthrough("a"))
        self.assertEqual(receiver.events, ["crashed"])
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)

    def test_redirects(self) -> None:
        """A redirect is followed once, by its URL, within half a minute."""
        self.proxy_client.redirected("r", "http://a/", None)
        self.assertIsNone(self.proxy_client.redirect_to("http://b/", None))
        self.assertEqual(self.proxy_client.redirect_to("http://a/", None), "r")
        self.assertIsNone(self.proxy_client.redirect_to("http://a/", None))
        self.proxy_client.redirected("r", "http://a/", None)
        self.clock.advance(30)
        self.assertIsNone(self.proxy_client.redirect_to("http://a/", None))

    def test_redirects_of_tests(self) -> None:
        """Tests that are redirected to one URL at once are told apart by their contexts."""
        self.core.claimed = {"A", "B"}
        for request_id, context in (("1", "A"), ("2", "B"), ("3", "trace 1")):
            self.proxy_client.redirected(request_id, "http://a/", context)
        found = [
            self.proxy_client.redirect_to("http://a/", context)
            for context in ("trace 2", "A", "A", "B")
        ]
        self.assertEqual(found, ["3", "1", None, "2"])

    def test_long_redirects(self) -> None:
        """Where a redirect leads is not remembered when it is very long."""
        url = "http://a/" + "b" * 5000
        self.proxy_client.redirected("r", url, None)
        self.assertIsNone(self.proxy_client.redirect_to(url, None))


class PartiesTests(SynchronousTestCase):
    """All client ids."""

    def setUp(self) -> None:
        self.clock, self.core = Clock(), Coordination()
        self.proxy_clients = ProxyClients(
            gateway=self.core, clock=self.clock, version="1", token="s3cret"
        )

    def test_one_for_each_id(self) -> None:
        """Connections of one id are one proxy client, which says hello once."""
        one, same = self.proxy_clients.enter("shop"), self.proxy_clients.enter("shop")
        self.assertIs(one, same)
        features = ["context", "faults", "headers-list", "stream", "stream-mocks", "strict"]
        self.assertEqual(self.core.calls, [("opened", "shop", "node", features)])

    def test_lingers(self) -> None:
        """It stays a while for clients that open a connection for each request."""
        self.proxy_clients.leave(self.proxy_clients.enter("shop"))
        self.clock.advance(29)
        self.proxy_clients.leave(self.proxy_clients.enter("shop"))
        self.clock.advance(29)
        self.assertEqual(len(self.core.calls), 1)
        self.clock.advance(1)
        self.assertEqual(self.core.calls[1:], [("closed", "shop")])

    def test_many(self) -> None:
        """Made-up ids do not pile up."""
        for number in range(MOST_IDLE_CLIENTS + 10):
            self.proxy_clients.leave(self.proxy_clients.enter(str(number)))
        self.assertEqual(len(self.clock.getDelayedCalls()), MOST_IDLE_CLIENTS)
        self.proxy_clients.stop()
        self.assertEqual(self.clock.getDelayedCalls(), [])


class CoreTests(SynchronousTestCase):
    """The real core."""

    def test_shown(self) -> None:
        """/api/connections has one row for each live id, of kind ``proxy``."""
        harness = ForwardProxyHarness()
        harness.ask(GET)
        harness.ask(GET)
        harness.ask(GET.replace(b"\r\n\r\n", b"\r\nProxy-Authorization: Basic YTo=\r\n\r\n"))
        rows = connections_report(harness.core.driver.coordinator)["nodeAgents"]
        self.assertEqual(
            [(r["clientId"], r["kind"]) for r in rows], [("proxy", "proxy"), ("a", "proxy")]
        )

    def test_attached_process(self) -> None:
        """Each attached process has a row of kind ``python``, with its id and command line."""
        harness = ForwardProxyHarness()
        named = b"\r\nTrafficmock-Agent: python; pid=%d; command=cHkgYS5weQ==\r\n\r\n"
        for pid in (7, 8, 7):
            harness.ask(GET.replace(b"\r\n\r\n", named % pid))
        harness.ask(GET)
        rows = connections_report(harness.core.driver.coordinator)["nodeAgents"]
        self.assertEqual(
            [(r["kind"], r.get("pid"), r.get("command")) for r in rows],
            [("python", 7, "py a.py"), ("python", 8, "py a.py"), ("proxy", None, None)],
        )

    def test_tests(self) -> None:
        """A route of all URLs leaves alone what a process of tests sends to its own machine."""
        for words, wanted in (("python; tests; pid=7", False), ("python; pid=8", True)):
            harness = ForwardProxyHarness()
            worker = harness.worker("**")
            named = f"\r\nTrafficmock-Agent: {words}\r\n\r\n".encode()
            harness.ask(GET.replace(b"api.test", b"127.0.0.1:9").replace(b"\r\n\r\n", named))
            sent = [each["type"] for each in worker.sent]
            self.assertEqual("request:matched" in sent, wanted, (words, sent))

    def test_linked(self) -> None:
        """The request that follows a redirect is routed on its own, and linked."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].sends(b"HTTP/1.1 302 x\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n")
        client.sends(GET.replace(b"/x", b"/y"))
        first, second = harness.entries()
        self.assertEqual(first["redirectedToId"], second["id"])
        self.assertEqual(second["redirectedFromId"], first["id"])

    def test_heartbeat(self) -> None:
        """The heartbeat does not cut a proxy client that has nothing to say."""
        harness = ForwardProxyHarness()
        harness.ask(GET)
        for _ in range(40):
            harness.core.clock.advance(10)
        self.assertEqual(len(harness.core.driver.coordinator.clients()), 1)
