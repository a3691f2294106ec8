"""Opens and closes the browser proxies of tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from attrs import define, field
from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IAddress, IListeningPort
from twisted.internet.protocol import Factory, connectionDone
from twisted.internet.protocol import Protocol as TwistedProtocol
from twisted.python.failure import Failure

from trafficmock.errors import LocalError
from trafficmock.http.http_limits import ConnectionCount
from trafficmock.matching.host_pattern import HostPattern
from trafficmock.matching.origin_pattern import read_origin_patterns
from trafficmock.proxy.browser_proxy.context_stamp import ContextStamp
from trafficmock.proxy.downstream.forward_proxy import ForwardProxy
from trafficmock.proxy.downstream.protocol_sniffing import ProtocolSniffer
from trafficmock.proxy.upstream_errors import error_response
from trafficmock.wire.payloads.application_origins import ApplicationOrigins

MOST_BROWSER_PROXIES = 1000
"""The most browser proxies of all tests together; each has a port and an open file."""


MOST_UNTAGGED = 5
"""The most origins of one test that are told because their requests get no context."""


class Listen(Protocol):
    """Listens on a free port of the interface on which the service listens."""

    def __call__(self, factory: Factory) -> IListeningPort:
        """Listen.

        :raises CannotListenError: if there is no port to listen on, as Twisted's reactors do.
        """


class BrowserProxyError(LocalError):
    """A browser proxy cannot be opened; the message is the reason."""


class MakeProxy(Protocol):
    """Makes the forward proxy of a browser."""

    def __call__(self, *, stamp: ContextStamp) -> ForwardProxy:
        """Make the proxy.

        :param stamp: changes the header of each request.
        """


class MisdirectedRequest(TwistedProtocol):
    """Answers 421 (RFC 9110 section 15.5.20) to requests that are not for a proxy.

    A page that reaches this port by DNS rebinding thereby gets nothing from the service.

    :param ended: called when the connection is lost.
    """

    transport: Any

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Answer and close."""
        text = "This port is the proxy of one test's browser: use it as a proxy."
        self.transport.write(error_response(421, "misdirected_request", text))
        self.transport.loseConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002, N802 - Twisted's signature
        self._ended()


class BrowserProxyFactory(Factory):
    """Makes the protocols for the connections to one browser proxy.

    :param forward: the forward proxy.
    :param count: counts and limits all connections of the service.
    """

    noisy = False

    def __init__(self, forward: ForwardProxy, count: ConnectionCount) -> None:
        self._forward = forward
        self._count = count
        self._open: set[ProtocolSniffer] = set()
        self._has_ended = False

    def buildProtocol(self, addr: IAddress | None) -> ProtocolSniffer | None:  # noqa: ARG002, N802 - Twisted's signature
        """Make the protocol of a new connection.

        :returns: ``None``, by which Twisted closes the connection, if there are too many or the
            browser proxy is closed: the reactor accepts connections until the turn after that.
        """
        if self._has_ended or not self._count.enter():
            return None

        def ended() -> None:
            self._count.leave()
            self._open.discard(sniffer)

        sniffer = self._forward.sniffer(lambda *, once: MisdirectedRequest(ended), ended)  # noqa: ARG005 - the protocol's
        self._open.add(sniffer)
        return sniffer

    def stop(self) -> None:
        """Abort the connections and refuse new ones, because the test has ended."""
        self._has_ended = True
        for sniffer in list(self._open):
            if sniffer.transport is not None:
                sniffer.transport.abortConnection()
        self._forward.stop()


@define(eq=False)
class BrowserProxies:
    """The browser proxies that are open, by test id.

    :param listen: opens a port.
    :param forward: makes the forward proxy.
    :param count: counts and limits all connections of the service.
    :param own_hosts: further hosts under test (``--own-host``).
    """

    listen: Listen
    forward: MakeProxy
    count: ConnectionCount
    own_hosts: tuple[HostPattern, ...] = ()
    _open: dict[str, tuple[IListeningPort, BrowserProxyFactory]] = field(factory=dict)

    def open(
        self,
        test_id: str,
        context: str,
        application: ApplicationOrigins,
        untagged: Callable[[str], None],
        called: Callable[[str], None] = lambda _: None,
    ) -> int:
        """Open the browser proxy of a test; one that it has already is closed.

        :param context: the context of the test.
        :param application: which servers get the context.
        :param untagged: called with the origins of hosts under test that get no context; once for
            each of the first :data:`MOST_UNTAGGED`.
        :param called: called with the origin of each request to the application.
        :returns: its port.
        :raises BrowserProxyError: if there is no port to listen on, or there are too many.
        """
        self.close(test_id)
        if len(self._open) >= MOST_BROWSER_PROXIES:
            raise BrowserProxyError(
                f"{MOST_BROWSER_PROXIES} tests have such a port, the most that may have one"
            )
        known: set[str] = set()

        def tell(origin: str) -> None:
            if origin not in known and len(known) < MOST_UNTAGGED:
                known.add(origin)
                untagged(origin)

        stamp = ContextStamp(
            context,
            read_origin_patterns(application.origins),
            self.own_hosts,
            hosts_under_test=application.hosts_under_test,
            untagged=tell,
            called=called,
        )
        factory = BrowserProxyFactory(self.forward(stamp=stamp), self.count)
        try:
            listening = self.listen(factory)
        except CannotListenError as error:
            factory.stop()
            raise BrowserProxyError(str(error).rstrip(".")) from error
        self._open[test_id] = listening, factory
        address: Any = listening.getHost()
        port: int = address.port
        return port

    def close(self, test_id: str) -> None:
        """Close the browser proxy of a test, if it has one, and abort its connections."""
        found = self._open.pop(test_id, None)
        if found is not None:
            listening, factory = found
            listening.stopListening()
            factory.stop()

    def stop(self) -> None:
        for test_id in list(self._open):
            self.close(test_id)
