"""An endpoint that connects through another proxy by CONNECT."""

from __future__ import annotations

from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import (
    IAddress,
    IDelayedCall,
    IProtocolFactory,
    IReactorTime,
    IStreamClientEndpoint,
)
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.python.failure import Failure
from zope.interface import implementer

from trafficmock.proxy.http1.heads import BadMessageError, parse_response, response_end
from trafficmock.proxy.upstream_errors import UpstreamError

_LONGEST_HEAD = 65536
_SUCCESSES = range(200, 300)


@implementer(IStreamClientEndpoint)
@define(eq=False)
class ConnectEndpoint:
    """Connects with a host through a proxy (RFC 9110 section 9.3.6).

    :param proxy: the endpoint of the proxy.
    :param host: the host as in a URL: IPv6 in brackets.
    :param credentials: the value of ``Proxy-Authorization``; ``None`` for none.
    :param seconds: how long the proxy may take to answer CONNECT (``--connect-timeout-ms``).
    """

    proxy: IStreamClientEndpoint
    host: str
    port: int
    credentials: bytes | None = field(repr=False)
    clock: IReactorTime
    seconds: float

    def connect(self, protocolFactory: IProtocolFactory) -> Deferred[Any]:  # noqa: N803 - Twisted's names
        """Connect with the host.

        :returns: fires with the protocol of ``protocolFactory``; fails with
            :class:`~trafficmock.proxy.upstream_errors.UpstreamError` if the proxy refuses.
        """
        asker = _ConnectProtocol(self, protocolFactory)
        factory = Factory.forProtocol(lambda: asker)
        factory.noisy = False
        connecting = self.proxy.connect(factory)
        connecting.addErrback(asker.failed)
        asker.connecting = connecting
        return asker.done

    def request(self) -> bytes:
        aim = f"{self.host}:{self.port}".encode("ascii")
        more = (
            b"" if self.credentials is None else b"proxy-authorization: %s\r\n" % self.credentials
        )
        return b"CONNECT %s HTTP/1.1\r\nhost: %s\r\n%s\r\n" % (aim, aim, more)


class _ConnectProtocol(Protocol):
    """Sends CONNECT, and passes all bytes to the inner protocol after a 2xx response."""

    transport: Any

    def __init__(self, way: ConnectEndpoint, factory: IProtocolFactory) -> None:
        self.done: Deferred[Any] = Deferred(lambda _: self._give_up())
        self._way = way
        self._factory = factory
        self._buffer = b""
        self._inner: Any = None
        self.connecting: Deferred[Any] | None = None
        self._timer: IDelayedCall | None = None

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Send the CONNECT request."""
        self._timer = self._way.clock.callLater(self._way.seconds, self._too_slow)
        self.transport.write(self._way.request())

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Read the response to CONNECT; all bytes behind it are from the host."""
        if self._inner is not None:
            self._inner.dataReceived(data)
            return
        self._buffer += data
        end, behind = response_end(self._buffer, _LONGEST_HEAD)
        if end < 0:
            if len(self._buffer) > _LONGEST_HEAD:
                self._refused("its answer has no end")
            return
        try:
            head = parse_response(self._buffer[:end])
        except BadMessageError as error:
            self._refused(error.text)
            return
        if head.status not in _SUCCESSES:
            self._refused(f"it answered {head.status} {head.reason.decode('latin-1')}".rstrip())
            return
        rest, self._buffer = self._buffer[behind:], b""
        self._hand_over(rest)

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        """Report the end of the connection."""
        self._stop_timer()
        if self._inner is not None:
            self._inner.connectionLost(reason)
        else:
            self._refused("it closed the connection", "ECONNRESET")

    def failed(self, failure: Failure) -> None:
        """Fail the attempt, because the proxy cannot be reached."""
        if not self.done.called:
            self.done.errback(failure)

    def _hand_over(self, rest: bytes) -> None:
        self._stop_timer()
        address: IAddress = self.transport.getPeer()
        self._inner = self._factory.buildProtocol(address)
        self._inner.makeConnection(self.transport)
        if not self.done.called:
            self.done.callback(self._inner)
        if rest:
            self._inner.dataReceived(rest)

    def _refused(self, why: str, errno: str | None = None) -> None:
        self._stop_timer()
        text = (
            f"The proxy on the way to {self._way.host}:{self._way.port} (--upstream-proxy): {why}."
        )
        if not self.done.called:
            self.done.errback(Failure(UpstreamError(text, code="upstream_proxy", errno=errno)))
        self.transport.abortConnection()

    def _too_slow(self) -> None:
        self._timer = None
        self._refused("it did not answer in time (--connect-timeout-ms)", "ETIMEDOUT")

    def _give_up(self) -> None:
        self._stop_timer()
        if self.connecting is not None:
            self.connecting.cancel()
        if self.transport is not None:
            self.transport.abortConnection()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
