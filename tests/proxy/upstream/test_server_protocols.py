"""Which protocols servers accept, over real handshakes in memory."""

from __future__ import annotations

from typing import Any

from attrs import define, field
from OpenSSL import SSL
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.testing import StringTransport
from twisted.protocols.tls import TLSMemoryBIOFactory
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import ForwardProxyHarness, refused
from tests.support.certificates import context_of
from trafficmock.http.hosts import Authority
from trafficmock.proxy.upstream import server_protocols
from trafficmock.proxy.upstream.server_protocols import (
    ASK_SECONDS,
    KNOWN_SECONDS,
    UNREACHED_SECONDS,
    Accepted,
    ServerProtocols,
)

API = Authority("api.test", 443)


class WantsOtherError(Exception):
    """No protocol that is offered is accepted."""


@define(eq=False)
class Server:
    """A TLS server.

    :param accepts: the protocols that it accepts; ``None`` if it does not know ALPN.
    :param refuses: whether it ends a handshake that offers none of them.
    """

    accepts: tuple[bytes, ...] | None
    refuses: bool = False
    offers: list[list[bytes]] = field(factory=list)

    def meet(self, client: Any) -> None:
        """Let the other end of a connection shake hands."""
        context = context_of("api.test")
        if self.accepts is not None:
            context.context.set_alpn_select_callback(self._choose)
        end: Any = TLSMemoryBIOFactory(
            context, isClient=False, wrappedFactory=Factory.forProtocol(Protocol)
        ).buildProtocol(None)
        transport = StringTransport()
        end.makeConnection(transport)
        for _ in range(6):
            if data := client.took():
                try:
                    end.dataReceived(data)
                except WantsOtherError:
                    end._flushSendBIO()  # the alert
            data = transport.value()
            transport.clear()
            if data and client.protocol is not None:
                client.sends(data)
        if client.disconnecting:
            client.lose()

    def _choose(self, _: Any, offered: list[bytes]) -> Any:
        self.offers.append(offered)
        for each in self.accepts or ():
            if each in offered:
                return each
        if self.refuses:
            raise WantsOtherError
        return SSL.NO_OVERLAPPING_PROTOCOLS


class AskTests(SynchronousTestCase):
    """What servers accept."""

    def setUp(self) -> None:
        self.harness = ForwardProxyHarness()
        self.protocols: ServerProtocols = self.harness.resources.protocols
        self.clock = self.harness.core.clock

    def said(self, server: Server) -> Accepted:
        """Ask a server, which gets up to two connections."""
        asking = self.protocols.ask(API, None)
        for place in range(2):
            if len(self.harness.servers) > place:
                server.meet(self.harness.servers[place])
        return self.successResultOf(asking)

    def test_accepted(self) -> None:
        """A server says what it accepts, whatever it does without a common protocol."""
        table = {
            (b"http/1.1",): Accepted.HTTP_1_1,
            (b"h2", b"http/1.1"): Accepted.HTTP_1_1,
            (b"h2",): Accepted.OTHERS,
            None: Accepted.HTTP_1_1,
        }
        for accepts, wanted in table.items():
            for refuses in (False, True):
                self.setUp()
                server = Server(accepts, refuses)
                self.assertIs(self.said(server), wanted, (accepts, refuses))
                self.assertIs(self.protocols.known(API), wanted)
                self.assertTrue(all(each.disconnecting for each in self.harness.servers))
                offers = [[b"http/1.1"]] if accepts else []
                more = [[b"h2"]] if accepts == (b"h2",) and not refuses else []
                self.assertEqual(server.offers, offers + more)

    def test_not_reached(self) -> None:
        """A server that is not there, too slow, or ends TLS is asked again only later."""
        self.harness.dialer.error = refused()
        self.assertIs(self.successResultOf(self.protocols.ask(API, None)), Accepted.UNKNOWN)
        self.assertIs(self.protocols.known(API), Accepted.UNKNOWN)
        self.clock.advance(UNREACHED_SECONDS + 1)
        self.assertIsNone(self.protocols.known(API))
        self.harness.dialer.error = None
        asking = self.protocols.ask(API, None)
        self.harness.servers[0].lose(ConnectionDone())
        self.assertIs(self.successResultOf(asking), Accepted.UNKNOWN)
        asking = self.protocols.ask(API, None)
        self.clock.advance(ASK_SECONDS)
        self.assertIs(self.successResultOf(asking), Accepted.UNKNOWN)
        self.assertTrue(self.harness.servers[1].disconnecting)
        self.harness.dialer.slow = [Deferred()]
        asking = self.protocols.ask(API, None)
        self.clock.advance(ASK_SECONDS)
        self.assertIs(self.successResultOf(asking), Accepted.UNKNOWN)

    def test_together(self) -> None:
        """Several connections ask a server once."""
        asking = [self.protocols.ask(API, None) for _ in range(3)]
        Server((b"http/1.1",)).meet(self.harness.servers[0])
        self.assertEqual({*map(self.successResultOf, asking)}, {Accepted.HTTP_1_1})
        self.assertEqual(len(self.harness.servers), 1)

    def test_forgotten(self) -> None:
        """What a server said is forgotten after a while, or if there are too many servers."""
        self.protocols.note(API, Accepted.OTHERS)
        self.clock.advance(KNOWN_SECONDS)
        self.assertIs(self.protocols.known(API), Accepted.OTHERS)
        self.clock.advance(1)
        self.assertIsNone(self.protocols.known(API))
        self.patch(server_protocols, "MOST_SERVERS", 2)
        for port in (1, 2, 3):
            self.protocols.note(Authority("api.test", port), Accepted.OTHERS)
        known = [self.protocols.known(Authority("api.test", port)) for port in (1, 2, 3)]
        self.assertEqual(known, [None, Accepted.OTHERS, Accepted.OTHERS])
