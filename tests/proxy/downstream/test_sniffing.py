"""What the first bytes of a connection say, also within a tunnel."""

import string
from typing import Any

from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Protocol
from twisted.internet.task import Clock
from twisted.logger import capturedLogs, formatEvent
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport, ForwardProxyHarness, client_hello
from trafficmock.http.hosts import Authority
from trafficmock.matching.host_pattern import read_host_pattern
from trafficmock.proxy.downstream.client_hello import offered_protocols
from trafficmock.proxy.downstream.connect_sniffing import (
    HTTP_2_ONLY,
    SERVER_ASKS_FOR_CERTIFICATE,
    SERVER_HTTP_2_ONLY,
    ConnectSniffer,
    kind_of,
)
from trafficmock.proxy.downstream.protocol_sniffing import ProtocolSniffer, hand_over
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.upstream.server_protocols import Accepted, ServerProtocols

TCHARS = string.ascii_letters + string.digits + "!#$%&'*+-.^_`|~"


class Chosen(Protocol):
    """Keeps what it reads."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.read = b""

    def dataReceived(self, data: bytes) -> None:
        self.read += data


@define(eq=False)
class Look:
    """A first look, and its connection."""

    ended: list[str] = field(factory=list)
    clock: Clock = field(factory=Clock)
    transport: FakeTransport = field(factory=FakeTransport)

    def __attrs_post_init__(self) -> None:
        look = ProtocolSniffer(
            proxy=lambda: Chosen("proxy"),
            service=lambda *, once: Chosen(f"service, once: {once}"),
            ended=lambda: self.ended.append("ended"),
            clock=self.clock,
            seconds=60,
        )
        self.transport.protocol = look
        look.makeConnection(self.transport)

    def after(self, data: bytes) -> tuple[str, bytes] | None:
        """Say something; give who was chosen, and what was read by it."""
        self.transport.sends(data)
        chosen = self.transport.protocol
        return (chosen.name, chosen.read) if isinstance(chosen, Chosen) else None


class ChoiceTests(SynchronousTestCase):
    """The first request decides."""

    def test_others(self) -> None:
        """What begins with a path, or is no request, goes on at once."""
        for data in (b"GET /", b"OPTIONS *", b"\r\nGET /x", b"\x16\x03", b"GET?", b"x" * 70):
            self.assertEqual(Look().after(data), ("service, once: False", data), data)

    def test_proxied(self) -> None:
        """Absolute-form and CONNECT are the forward proxy's, with the first byte of the target."""
        for data in (b"GET h", b"CONNECT ", b"\r\nPOST H", b"GET x"):
            look = Look()
            self.assertIsNone(look.after(data[:-1]))
            self.assertEqual(look.after(data[-1:]), ("proxy", data))

    def test_endless(self) -> None:
        """Empty lines without an end are no request."""
        look = Look()
        self.assertIsNone(look.after(b"\r\n" * 32))
        self.assertEqual(look.after(b"\r\n"), ("service, once: False", b"\r\n" * 33))

    def test_silence(self) -> None:
        """Who says nothing is closed after a while; no timer outlives the choice."""
        look = Look()
        look.clock.advance(60)
        self.assertTrue(look.transport.disconnecting)
        look.transport.lose()
        self.assertEqual(look.ended, ["ended"])
        chosen = Look()
        chosen.after(b"GET /")
        self.assertEqual(chosen.clock.getDelayedCalls(), [])

    def test_behind_tls(self) -> None:
        """On a listener with TLS the layer above it is replaced."""

        class Wrapper(FakeTransport):
            wrappedProtocol: Any = None  # noqa: N815 - Twisted's name

        wrapper, chosen = Wrapper(), Chosen("x")
        hand_over(wrapper, chosen, b"abc")
        self.assertEqual((wrapper.wrappedProtocol, chosen.read), (chosen, b"abc"))

    @given(
        st.lists(st.sampled_from([b"G", b" ", b"/", b"h", b"http://", b"\r\n", b"\0"]), max_size=9)
    )
    def test_nothing_lost(self, pieces: list[bytes]) -> None:
        """Whoever is chosen reads every byte."""
        look = Look()
        found = None
        for piece in pieces:
            found = look.after(piece)
        if found is not None:
            self.assertEqual(found[1], b"".join(pieces))


class KindTests(SynchronousTestCase):
    """First bytes."""

    def test_told(self) -> None:
        """TLS by its first byte, HTTP by a method and a space, the rest is neither."""
        for data, kind in (
            (b"", None),
            (b"\x16", "tls"),
            (b"GET", None),
            (b"GET ", None),
            (b"GET /", "http"),
            (b"PRI * HTTP/1.1", "http"),
            (b"PRI * HTTP/", None),
            (b"PRI * HTTP/2.0", "blind"),
            (b"SSH-2.0", None),
            (b"SSH-2.0-OpenSSH_9\r\n", "blind"),
            (b"get /", "http"),
            (b"get key", "blind"),
            (b"get h", None),
            (b"get http:", "http"),
            (b"M-SEARCH /", "http"),
            (b"M-SEARCH *", "http"),
            (b"VERSION-CONTROL /x", "http"),
            (b"X_TEST", None),
            (b"V2 /", "http"),
            (b"A" * 64 + b" /", "http"),
            (b"SSH-2.0-OpenSSH_9.2p1 Debian", "blind"),
            (b"\x00", "blind"),
            (b"A" * 65, "blind"),
        ):
            self.assertEqual(kind_of(data), kind, data)

    def test_attached(self) -> None:
        """What an attached process sends is parsed: its headers must not reach a server."""
        for data, kind in (
            (b"", None),
            (b"\x16", "tls"),
            (b"PRI * HTTP/", None),
            (b"PRI * HTTP/2.0", "blind"),
            (b"G", "http"),
            (b'"odd" /', "http"),
            (b"\x00", "http"),
        ):
            self.assertEqual(kind_of(data, is_attached=True), kind, data)

    @given(st.text(TCHARS, min_size=1, max_size=64), st.sampled_from(["/", "*", "http://a/"]))
    def test_any_method(self, method: str, target: str) -> None:
        """A method is any token (RFC 9110 section 9.1)."""
        line = f"{method} {target}".encode()
        self.assertEqual(kind_of(line), "http")
        for place in range(len(line)):
            self.assertIn(kind_of(line[:place]), {None, "http"})

    @given(st.binary(max_size=30) | st.text("GETget /*:htps-", max_size=30).map(str.encode))
    def test_stays(self, data: bytes) -> None:
        """Once it is told, more bytes do not change it."""
        for place in range(len(data)):
            kind = kind_of(data[:place])
            if kind is not None:
                self.assertEqual(kind_of(data), kind)
                return


class Setup:
    """A client that has said CONNECT."""

    def __init__(
        self,
        settings: ProxySettings | None = None,
        *,
        is_attached: bool = False,
        harness: ForwardProxyHarness | None = None,
    ) -> None:
        self.harness = harness or ForwardProxyHarness(settings or ProxySettings())
        self.client = FakeTransport()
        self.inside: list[tuple[bytes, bool]] = []
        self.behind = ConnectSniffer(
            self.client,
            self.harness.resources,
            self.harness.resources.proxy_clients.enter("shop"),
            authority=Authority("db.test", 5432),
            headers={},
            inside=self.note,
            is_attached=is_attached,
        )

    def note(self, data: bytes, *, tls: bool) -> None:
        self.inside.append((data, tls))

    def timers(self) -> list[Any]:
        heartbeat = 1
        return list(self.harness.core.clock.getDelayedCalls())[heartbeat:]


def add_to(asked: list[Deferred[Accepted]]) -> Deferred[Accepted]:
    asked.append(Deferred())
    return asked[-1]


class BehindTests(SynchronousTestCase):
    """The first bytes decide."""

    def test_read(self) -> None:
        """TLS and HTTP are read; until then nothing is connected."""
        for data, tls in (
            (client_hello(), True),
            (b"\x16\x03\x01 no TLS", True),
            (b"GET /", False),
        ):
            made = Setup()
            for place in range(len(data)):
                made.behind.data_received(data[place : place + 1])
                if made.inside:
                    break
            self.assertEqual(made.inside[0][1], tls)
            self.assertEqual((made.harness.dialer.asked, made.timers()), ([], []))

    def test_blind(self) -> None:
        """Anything else is carried both ways, and shown as one row."""
        made = Setup()
        made.behind.data_received(b"\x00\x01")
        self.assertEqual(made.harness.dialer.asked, ["db.test:5432"])
        made.harness.servers[0].sends(b"hello")
        made.behind.data_received(b"more")
        self.assertEqual(made.harness.servers[0].took(), b"\x00\x01more")
        self.assertEqual(made.client.took(), b"hello")
        self.assertEqual(made.harness.entry()["request"]["method"], "CONNECT")
        made.behind.lost()
        self.assertEqual(made.harness.entry()["action"], "passthrough")

    def test_server_first(self) -> None:
        """When the client is silent the server is reached; if it speaks first, that is that."""
        made = Setup()
        made.harness.core.clock.advance(0.3)
        self.assertEqual(made.harness.dialer.asked, ["db.test:5432"])
        made.harness.servers[0].sends(b"220 ready")
        self.assertEqual(made.client.took(), b"220 ready")
        made.behind.data_received(b"EHLO x")
        self.assertEqual((made.harness.servers[0].took(), made.inside), (b"EHLO x", []))

    def test_slow_client(self) -> None:
        """A client that only took its time is read after all, and the server let go."""
        made = Setup()
        made.harness.core.clock.advance(0.3)
        made.behind.data_received(b"GET / HTTP/1.1")
        self.assertEqual(made.inside, [(b"GET / HTTP/1.1", False)])
        self.assertTrue(made.harness.servers[0].disconnecting)

    def test_left_alone(self) -> None:
        """A host of --tunnel is carried blindly from the beginning."""
        made = Setup(ProxySettings(tunnels=(read_host_pattern("db.*"),)))
        made.behind.data_received(b"\x16\x03")
        self.assertEqual((made.inside, made.harness.servers[0].took()), ([], b"\x16\x03"))

    def test_http_2_only(self) -> None:
        """TLS without HTTP/1.1 is carried: the proxy could not answer. The log says so once."""
        made, hello = Setup(), client_hello("grpc-exp", "h2")
        with capturedLogs() as logged:
            made.behind.data_received(hello[:100])
            self.assertEqual((made.inside, made.harness.dialer.asked), ([], []))
            made.behind.data_received(hello[100:])
            made.harness.resources.tell_unread("db.test:5432", HTTP_2_ONLY, for_good=True)
        self.assertEqual((made.inside, made.harness.servers[0].took()), ([], hello))
        made.behind.lost()
        entry = made.harness.entry()
        self.assertEqual((entry["request"]["method"], entry["action"]), ("CONNECT", "passthrough"))
        self.assertIn(HTTP_2_ONLY, entry["outcome"]["response"]["statusText"])
        (event,) = logged
        text = formatEvent(event)
        self.assertIn("db.test:5432 is not read, because its client", text)
        self.assertIn("no route and no replay sees its requests", text)

    def test_not_for_the_proxy(self) -> None:
        """TLS is carried to a server that accepts no HTTP/1.1, or wants a certificate."""
        for accepted, why, offered in (
            (Accepted.OTHERS, SERVER_HTTP_2_ONLY, ("h2", "http/1.1")),
            (Accepted.CERTIFIED, SERVER_ASKS_FOR_CERTIFICATE, ("h2", "http/1.1")),
            (Accepted.CERTIFIED, SERVER_ASKS_FOR_CERTIFICATE, ("http/1.1",)),
            (Accepted.CERTIFIED, SERVER_ASKS_FOR_CERTIFICATE, ()),
        ):
            made, hello = Setup(), client_hello(*offered)
            server = Authority("db.test", 5432)
            made.harness.resources.protocols.note(server, accepted)
            with capturedLogs() as logged:
                made.behind.data_received(hello)
            self.assertEqual((made.inside, made.harness.servers[0].took()), ([], hello))
            text = formatEvent(logged[0])
            self.assertIn(f"{why}, while no route and no replay may match its requests.", text)
            made.harness.worker("https://db.test:5432/**")
            self.assertTrue(made.client.disconnecting)
            self.assertIn(why, made.harness.entry()["outcome"]["response"]["statusText"])
            again = Setup(harness=made.harness)
            again.behind.data_received(hello)
            self.assertEqual(again.inside, [(hello, True)])

    def test_server_asked(self) -> None:
        """A server is asked, once; until it has said what it accepts, nothing is answered."""
        hello = client_hello("h2", "http/1.1")
        for accepted in (Accepted.HTTP_1_1, Accepted.UNKNOWN, Accepted.OTHERS):
            made = Setup()
            asked: list[Deferred[Accepted]] = []
            self.patch(ServerProtocols, "ask", lambda *_, asked=asked: add_to(asked))
            made.behind.data_received(hello[:-1])
            made.behind.data_received(hello[-1:])
            made.behind.data_received(b"more")
            self.assertEqual((made.inside, len(asked), made.timers()), ([], 1, []))
            asked[0].callback(accepted)
            if accepted is Accepted.OTHERS:
                self.assertEqual(made.harness.servers[0].took(), hello + b"more")
            else:
                self.assertEqual(made.inside, [(hello + b"more", True)])

    def test_asked_in_vain(self) -> None:
        """What the server says does not count if the client is gone, or a route was made."""
        hello = client_hello("h2", "http/1.1")
        for happens in ("lost", "half_closed", "route"):
            made = Setup()
            asked: list[Deferred[Accepted]] = []
            self.patch(ServerProtocols, "ask", lambda *_, asked=asked: add_to(asked))
            made.behind.data_received(hello)
            if happens == "route":
                made.harness.worker("https://db.test:5432/**")
            else:
                getattr(made.behind, happens)()
            asked[0].callback(Accepted.OTHERS)
            self.assertEqual(made.harness.dialer.asked, [])
            self.assertEqual(made.inside, [(hello, True)] if happens == "route" else [])

    def test_not_asked(self) -> None:
        """A server that a test might mock is not reached, nor one whose client offers HTTP/1.1."""
        made = Setup()
        made.harness.worker("https://db.test:5432/**")
        hello = client_hello("h2", "http/1.1")
        made.behind.data_received(hello)
        self.assertEqual((made.inside, made.harness.dialer.asked), ([(hello, True)], []))

    def test_slow_tls(self) -> None:
        """A ClientHello that comes slowly is waited for."""
        made, hello = Setup(), client_hello("http/1.1")
        made.behind.data_received(hello[:9])
        made.harness.core.clock.advance(0.3)
        made.behind.data_received(hello[9:])
        self.assertEqual((made.inside, made.harness.dialer.asked), ([(hello, True)], []))

    def test_attached(self) -> None:
        """An attached process speaks first, so that no server answers before its request."""
        made = Setup(is_attached=True)
        made.harness.core.clock.advance(0.3)
        self.assertEqual(made.harness.dialer.asked, [])
        made.behind.data_received(b"G")
        self.assertEqual(made.inside, [(b"G", False)])

    def test_ends(self) -> None:
        """A client that leaves, or has said all, leaves no timer."""
        for end in ("lost", "half_closed"):
            made = Setup()
            getattr(made.behind, end)()
            self.assertEqual(made.timers(), [], end)

    def test_gave_up(self) -> None:
        """A client that leaves before its first byte has asked for nothing."""
        for sent in (b"", client_hello()[:20]):
            made = Setup()
            made.behind.data_received(sent)
            made.behind.half_closed()
            self.assertTrue(made.client.disconnecting)
            self.assertEqual((made.harness.dialer.asked, made.harness.entries()), ([], []))
        made = Setup()
        made.behind.data_received(b"QUIT")
        made.behind.half_closed()
        self.assertEqual(made.harness.dialer.asked, ["db.test:5432"])


class ClientHelloTests(SynchronousTestCase):
    """The protocols that a client offers."""

    def test_offered(self) -> None:
        """They are read in any pieces of any records."""
        for protocols in ((), ("h2",), ("h2", "http/1.1"), ("x" * 200, "http/1.1")):
            hello = client_hello(*protocols)
            found = tuple(each.encode() for each in protocols)
            for data in (hello, hello + b"more", in_records(hello, 1), in_records(hello, 100)):
                self.assertEqual(offered_protocols(data), found)
            for place in range(len(hello)):
                self.assertIsNone(offered_protocols(hello[:place]), place)

    def test_malformed(self) -> None:
        """What is no ClientHello offers nothing."""
        hello = client_hello("h2")
        for data in (
            hello[:5] + b"\x02" + hello[6:],
            hello[:3] + b"\0\0" + hello[5:],
            hello[:6] + b"\xff" + hello[7:],
            hello[:20] + b"\xff" * (len(hello) - 20),
            in_records(hello, 100)[:105] + b"\x17" * 9,
            b"\x17",
        ):
            self.assertEqual(offered_protocols(data), (), data)

    @given(st.binary(max_size=400), st.integers(0, 300))
    def test_any_bytes(self, data: bytes, place: int) -> None:
        """No bytes raise an error, and more bytes do not change what was read."""
        hello = client_hello("h2")
        for text in (data, b"\x16" + data, hello[:place] + data):
            found = offered_protocols(text)
            if found is not None:
                self.assertEqual(offered_protocols(text + b"\x16 more"), found)


def in_records(hello: bytes, size: int) -> bytes:
    """Write a ClientHello in records of a size."""
    body = hello[5:]
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(hello[:3] + len(part).to_bytes(2, "big") + part for part in parts)
