"""Fetches from the proxy what the pages ask for, and passes it on as it arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import Factory, define
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.defer import TimeoutError as WaitTimeoutError
from twisted.internet.error import ConnectError, ConnectionLost, DNSLookupError
from twisted.logger import Logger
from twisted.web.client import RequestTransmissionFailed, ResponseFailed, ResponseNeverReceived
from twisted.web.http_headers import Headers

from trafficmock.dashboard.body import BodyRelay
from trafficmock.net.answers import INTERNAL, RestError, error

if TYPE_CHECKING:
    from twisted.internet.interfaces import IReactorTime
    from twisted.web.iweb import IAgent, IResponse

    from trafficmock.net.request import ServiceRequest

ANSWER_SECONDS = 20.0
"""How long the proxy may take to begin an answer: a search through long bodies takes some."""

_ASKED = (b"if-none-match", b"accept")
_TOLD = (b"etag", b"content-disposition")
_JSON = b"application/json"
_AWAY = (
    ConnectError,
    ConnectionLost,
    DNSLookupError,
    RequestTransmissionFailed,
    ResponseFailed,
    ResponseNeverReceived,
)


@define(eq=False, kw_only=True)
class Relay:
    """Asks the proxy on behalf of a page.

    :param agent: makes connections to the proxy, and keeps them.
    :param proxy_url: where it is, without a final slash.
    :param clock: for time limits.
    """

    log = Logger()

    _agent: IAgent
    _proxy_url: str
    _clock: IReactorTime
    _under_way: set[Deferred[None]] = Factory(set)

    def answer(self, request: ServiceRequest, target: bytes) -> None:
        """Answer ``request`` with what the proxy says.

        :param target: path and query to ask the proxy for.
        """
        relaying = Deferred.fromCoroutine(self._relay(request, target))
        self._under_way.add(relaying)
        request.notifyFinish().addErrback(lambda _: relaying.cancel())
        relaying.addErrback(self._failed, request)
        relaying.addBoth(lambda _: self._under_way.discard(relaying))

    def stop(self) -> None:
        """Give up what is under way."""
        for relaying in list(self._under_way):
            relaying.cancel()

    def open_links(self) -> int:
        """Count the answers that are under way."""
        return len(self._under_way)

    async def _relay(self, request: ServiceRequest, target: bytes) -> None:
        asking: Deferred[IResponse] = self._agent.request(
            request.method, self._proxy_url.encode("ascii") + target, _picked(request)
        )
        response = await asking.addTimeout(ANSWER_SECONDS, self._clock)
        if response.code != _NOT_MODIFIED and not _is_json(response):
            _forget(response)
            raise RestError(
                502,
                "not_a_proxy",
                f"What answers at {self._proxy_url} is not trafficmock: it speaks no JSON. "
                "Start the dashboard with the --proxy-url that the proxy says at its start.",
            )
        request.setResponseCode(response.code, response.phrase)
        request.setHeader(b"cache-control", b"no-store")
        request.setHeader(b"content-type", _JSON)
        for name in _TOLD:
            for value in response.headers.getRawHeaders(name, []):
                request.setHeader(name, value)
        if isinstance(response.length, int) and response.code != _NOT_MODIFIED:
            request.setHeader(b"content-length", b"%d" % response.length)
        body = BodyRelay(request, self._clock)
        response.deliverBody(body)
        await body.done

    def _failed(self, failure: Any, request: ServiceRequest) -> None:
        """Say what is wrong, as long as that can be said."""
        if failure.check(CancelledError):
            return
        if request.startedWriting:
            self.log.info("An answer of the proxy broke off: {why}", why=failure.getErrorMessage())
            request.loseConnection()
            return
        refused = self._explain(failure)
        if refused is INTERNAL:
            self.log.failure("While relaying {uri!r}", failure=failure, uri=request.uri)
        request.responseHeaders.removeHeader(b"etag")
        request.responseHeaders.removeHeader(b"content-disposition")
        body = error(request, refused)
        if request.method != b"HEAD":
            request.write(body)
        request.finish()

    def _explain(self, failure: Any) -> RestError:
        if failure.check(RestError):
            refused: RestError = failure.value
            return refused
        if failure.check(WaitTimeoutError):
            return RestError(
                504, "proxy_timeout", f"The proxy at {self._proxy_url} does not answer in time."
            )
        if failure.check(*_AWAY):
            return RestError(
                502,
                "proxy_unavailable",
                f"Nothing answers at {self._proxy_url}. Is the proxy running, and is this its "
                "address? The dashboard takes it from --proxy-url.",
            )
        return INTERNAL


_NOT_MODIFIED = 304


def _picked(request: ServiceRequest) -> Headers:
    """Take from the page's request what concerns the proxy; cookies and the like do not."""
    picked = Headers()
    for name in _ASKED:
        for value in request.requestHeaders.getRawHeaders(name, []):
            picked.addRawHeader(name, value)
    return picked


def _is_json(response: IResponse) -> bool:
    values: Any = response.headers.getRawHeaders(b"content-type", [b""])
    return bool(values[0].lower().startswith(_JSON))


def _forget(response: Any) -> None:
    """Cut off an answer that nobody reads; unread, it would hold its connection."""
    response.deliverBody(_Refusal())


class _Refusal:
    """Takes the body of an unwanted answer, by ending its connection."""

    def makeConnection(self, transport: Any) -> None:  # noqa: N802 - Twisted's name
        transport.loseConnection()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        pass

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - Twisted's name
        pass
