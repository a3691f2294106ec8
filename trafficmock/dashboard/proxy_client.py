"""Sends the dashboard's requests to the proxy, and makes the responses for their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from attrs import define
from twisted.internet.defer import Deferred
from twisted.internet.defer import TimeoutError as WaitTimeoutError
from twisted.internet.error import ConnectError, ConnectionLost, DNSLookupError
from twisted.internet.protocol import Protocol
from twisted.web.client import RequestTransmissionFailed, ResponseFailed, ResponseNeverReceived

from trafficmock.http.exact_url import ExactUrl
from trafficmock.http.responses import INTERNAL, RestError

if TYPE_CHECKING:
    from treq.client import HTTPClient
    from twisted.internet.interfaces import IReactorTime
    from twisted.python.failure import Failure
    from twisted.web.http_headers import Headers
    from twisted.web.iweb import IResponse

ANSWER_SECONDS = 20.0
"""How long the proxy may take to begin a response; searches in long bodies are the slowest."""

NOT_MODIFIED = 304

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
class ProxyApiClient:
    """Sends requests to the proxy by treq.

    :param client: treq's client, with a pool of connections.
    :param proxy_url: the base URL of the proxy, without a final slash.
    :param clock: for time limits.
    """

    _client: HTTPClient
    _proxy_url: str
    clock: IReactorTime

    async def ask(
        self, target: bytes, *, method: bytes = b"GET", headers: Headers | None = None
    ) -> IResponse:
        """Send a request.

        :param target: path and query.
        :returns: the response, of any status; the caller reads its body.
        :raises RestError: if the response is not JSON, so the server is not a trafficmock proxy.
        """
        asking: Deferred[Any] = self._client.request(
            method.decode("ascii"),
            ExactUrl(self._proxy_url + target.decode("ascii")),
            headers=headers,
            allow_redirects=False,
            unbuffered=True,
            reactor=cast("Any", self.clock),
        )
        # treq's own time limit raises CancelledError, as a page that is gone does.
        response: IResponse = await asking.addTimeout(ANSWER_SECONDS, self.clock)
        if response.code != NOT_MODIFIED and not _is_json(response):
            forget(response)
            raise RestError(
                502,
                "not_a_proxy",
                f"What answers at {self._proxy_url} is not trafficmock: it speaks no JSON. "
                "Start the dashboard with the --proxy-url that the proxy says at its start.",
            )
        return response

    def explain(self, failure: Failure) -> RestError:
        """Return the error response for a failed request.

        :returns: ``INTERNAL`` for an error of the dashboard itself.
        """
        if isinstance(failure.value, RestError):
            return failure.value
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


def _is_json(response: IResponse) -> bool:
    values: Any = response.headers.getRawHeaders(b"content-type", [b""])
    return bool(values[0].lower().startswith(_JSON))


def forget(response: Any) -> None:
    """Close the connection of a response that is not read, which would stay open otherwise."""
    response.deliverBody(_Unwanted())


class _Unwanted(Protocol):
    """Closes the connection instead of reading a body."""

    transport: Any

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        self.transport.loseConnection()
