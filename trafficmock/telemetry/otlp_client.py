"""Sends data to a collector by OTLP over HTTP, on the reactor: nothing waits for it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen
from OpenSSL import crypto
from twisted.internet import ssl
from twisted.internet.defer import Deferred, succeed
from twisted.internet.protocol import Protocol, connectionDone
from twisted.internet.threads import deferToThreadPool
from twisted.web.client import Agent, BrowserLikePolicyForHTTPS, HTTPConnectionPool
from twisted.web.http_headers import Headers
from twisted.web.iweb import IBodyProducer, IPolicyForHTTPS
from zope.interface import implementer

from trafficmock.errors import LocalError
from trafficmock.telemetry.export_settings import Destination
from trafficmock.telemetry.otlp.protobuf import MalformedError, fields
from trafficmock.texts.message_text import without_credentials

if TYPE_CHECKING:
    from twisted.internet.interfaces import IConsumer
    from twisted.python.failure import Failure
    from twisted.web.iweb import IAgent, IResponse

RETRIED = frozenset({429, 502, 503, 504})
"""The statuses after which the same data is sent again (OTLP)."""

_OK = range(200, 300)
_MOST_ANSWERED = 64 * 1024
"""The bytes of an answer that are read."""
_GZIP_WINDOW = 31
_FIXED_LEVEL = 6


class NotSentError(Exception):
    """The collector did not take the data.

    :ivar again: whether it may take the same data later.
    """

    def __init__(self, text: str, *, again: bool) -> None:
        super().__init__(text)
        self.again = again


@frozen
class Taken:
    """What a collector says of data that it took.

    :param rejected: how many spans or points it refused.
    :param message: its words about that, or a warning.
    """

    rejected: int = 0
    message: str = ""


@define(eq=False)
class Collector:
    """Sends the data of one signal.

    :param agent: sends HTTP requests.
    :param user_agent: names this program.
    """

    destination: Destination
    agent: IAgent
    user_agent: str
    reactor: Any
    _headers: Headers = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._headers = Headers({"user-agent": [self.user_agent]})
        for name, value in self.destination.headers:
            self._headers.addRawHeader(name, value)
        self._headers.setRawHeaders("content-type", ["application/x-protobuf"])
        if self.destination.gzip:
            self._headers.setRawHeaders("content-encoding", ["gzip"])

    @property
    def shown(self) -> str:
        """The URL, for messages."""
        return without_credentials(self.destination.url)

    async def send(self, body: Sequence[bytes]) -> Taken:
        """Send a message.

        :param body: its parts.
        :raises NotSentError: the collector is away, does not answer in time, or refuses it.
        """
        if self.destination.gzip:
            pool = self.reactor.getThreadPool()
            body = await deferToThreadPool(self.reactor, pool, _compressed, body)
        url = self.destination.url.encode("ascii")
        asked = self.agent.request(b"POST", url, self._headers, _ExportBody(body))
        answering: Deferred[tuple[int, bytes]] = asked.addCallback(_read)
        answering.addTimeout(self.destination.seconds, self.reactor)
        try:
            status, answer = await answering
        except Exception as error:  # noqa: BLE001 - whatever the connection ended with
            raise NotSentError(_why(error), again=True) from None
        if status not in _OK:
            raise NotSentError(f"it answers with status {status}", again=status in RETRIED)
        return _taken(answer)


def make_agent(destination: Destination, reactor: Any) -> IAgent:
    """Return the agent for a collector, which keeps its connection open.

    :raises LocalError: a file for TLS cannot be read.
    """
    pool = HTTPConnectionPool(reactor)
    # A second try on a connection that had just been closed is the exporter's.
    pool.retryAutomatically = False
    seconds = destination.seconds
    agent: IAgent = Agent(reactor, _policy(destination), connectTimeout=seconds, pool=pool)
    return agent


def _policy(destination: Destination) -> Any:
    trust = client = None
    if destination.certificate:
        trust = ssl.trustRootFromCertificates(
            [_certificate(text) for text in _pem(destination.certificate)]
        )
    if destination.client_certificate and destination.client_key:
        client = _client(destination.client_certificate, destination.client_key)
    if client is None:
        return BrowserLikePolicyForHTTPS(trust)
    return _Policy(trust, client)


@implementer(IPolicyForHTTPS)
@frozen
class _Policy:
    """Verifies the collector as browsers do, and shows it a certificate."""

    trust: Any
    client: Any

    def creatorForNetloc(self, hostname: bytes, port: int) -> Any:  # noqa: ARG002, N802 - Twisted's
        return ssl.optionsForClientTLS(
            hostname.decode("ascii"), trustRoot=self.trust, clientCertificate=self.client
        )


def _pem(file: str) -> list[str]:
    """Return the certificates of a file.

    :raises LocalError: it cannot be read, or has none.
    """
    try:
        text = Path(file).read_text("ascii")
    except (OSError, ValueError) as error:
        raise LocalError(f"cannot read the certificates of the OTLP exporter: {error}") from None
    end = "-----END CERTIFICATE-----"
    found = [part + end for part in text.split(end)[:-1]]
    if not found:
        raise LocalError(f"cannot read the certificates of the OTLP exporter: none in {file}")
    return found


def _certificate(text: str) -> Any:
    try:
        return ssl.Certificate.loadPEM(text.encode())
    except crypto.Error:
        raise LocalError("a certificate of the OTLP exporter is not valid PEM") from None


def _client(certificate: str, key: str) -> Any:
    try:
        return ssl.PrivateCertificate.loadPEM(Path(certificate).read_text() + Path(key).read_text())
    except (OSError, ValueError, crypto.Error) as error:
        raise LocalError(
            f"cannot read OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and _CLIENT_KEY: {error}"
        ) from None


@implementer(IBodyProducer)
class _ExportBody:
    """The body of a request."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self._parts = parts
        self.length = sum(map(len, parts))

    def startProducing(self, consumer: IConsumer) -> Deferred[None]:  # noqa: N802 - Twisted's
        for part in self._parts:
            consumer.write(part)
        return succeed(None)

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's
        pass

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's
        pass

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's
        pass


class _AnswerReader(Protocol):
    """Reads the beginning of an answer."""

    def __init__(self, done: Deferred[bytes]) -> None:
        self._done, self._parts, self._size = done, list[bytes](), 0

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's
        if self._size < _MOST_ANSWERED:
            self._parts.append(data)
        self._size += len(data)
        if self._size > _MOST_ANSWERED and self.transport is not None:
            self.transport.loseConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002, N802 - Twisted's
        self._done.callback(b"".join(self._parts)[:_MOST_ANSWERED])


def _read(response: IResponse) -> Deferred[tuple[int, bytes]]:
    read: Deferred[bytes] = Deferred()
    response.deliverBody(_AnswerReader(read))
    return read.addCallback(lambda body: (response.code, body))


def _compressed(parts: Sequence[bytes]) -> list[bytes]:
    compressor = zlib.compressobj(_FIXED_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    return [*map(compressor.compress, parts), compressor.flush()]


def _why(error: Exception) -> str:
    reasons = getattr(error, "reasons", None)  # of twisted.web: what the connection ended with
    if reasons:
        return str(reasons[0].value).rstrip(".")
    return str(error).rstrip(".") or type(error).__name__


def _taken(answer: bytes) -> Taken:
    """Read ``partial_success`` of an answer; one that cannot be read has none."""
    try:
        for number, value in fields(answer):
            if number == 1 and isinstance(value, bytes):
                inner = dict(fields(value))
                rejected, message = inner.get(1, 0), inner.get(2, b"")
                if isinstance(rejected, int) and isinstance(message, bytes):
                    return Taken(rejected, message.decode(errors="replace"))
    except MalformedError:
        pass
    return Taken()
