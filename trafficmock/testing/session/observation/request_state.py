"""One request of the application and its response, as far as this process knows them."""

from __future__ import annotations

from typing import Any

from attrs import define, field
from msgspec import UNSET

from trafficmock.testing.errors import UsageError
from trafficmock.testing.promise import Promise
from trafficmock.testing.session.arguments.headers import TextPairs
from trafficmock.wire.http_syntax import lower_case
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest as WireRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse as WireResponse


@define(eq=False)
class RequestState:
    """One request of the application.

    :param wire: the request as the application sent it.
    :param shown_url: its URL for texts, with the proxy's marks in place of secrets; a handler that
        changes the URL does not change this.
    :param sequence: its number among the requests that the test observed; 0 if only the history
        has it.
    :ivar current: the request with the changes of handlers so far.
    :param answered: a promise of the response, of ``None`` when there will be none.
    :param views: the objects of the test for this request, by class.
    """

    id: str
    client_id: str
    wire: WireRequest = field(repr=False)
    shown_url: str
    sequence: int
    answered: Promise[ResponseState | None] = field(factory=Promise)
    redirected_from: RequestState | None = None
    redirected_to: RequestState | None = None
    views: dict[type, Any] = field(factory=dict, repr=False)
    current: WireRequest = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.current = self.wire

    @property
    def url(self) -> str:
        return self.current.url

    @property
    def method(self) -> str:
        """The method, with the changes so far."""
        return self.current.method

    @property
    def headers(self) -> TextPairs:
        """The headers, with the changes so far."""
        return tuple(lower_case(self.current.headers, self.current.headers_list))

    @property
    def content(self) -> bytes:
        """The body, with the changes so far.

        :raises UsageError: the proxy did not keep the whole body (feature ``stream``): it must not
            seem to be empty.
        """
        if self.current.truncated is True:
            raise UsageError(
                f"the proxy did not keep the body of {self} whole: no test owned the request, "
                "so it was passed on as it came, and it was not all sent or is longer than "
                "--history-body-bytes"
            )
        return body.to_bytes(self.current.body_base64)

    def copy(self) -> RequestState:
        """Return a copy for a handler's fetch, which has a response of its own."""
        return RequestState(self.id, self.client_id, self.current, self.shown_url, self.sequence)

    def answer(self, response: ResponseState | None) -> bool:
        """Set the response; return whether there was none before."""
        return self.answered.resolve(response)

    def existing(self) -> ResponseState | None:
        """Return the response if it has come, else ``None``: also where nobody waits any more."""
        return self.answered.value if self.answered.done and not self.answered.error else None

    def __str__(self) -> str:
        return f"{self.method} {self.shown_url}"


@define(eq=False)
class ResponseState:
    """One response with its body.

    :param disposed: whether the test has released the body.
    :param views: the objects of the test for this response, by class.
    """

    request: RequestState
    wire: WireResponse = field(repr=False)
    disposed: bool = False
    views: dict[type, Any] = field(factory=dict, repr=False)

    @property
    def url(self) -> str:
        """The URL of the response; that of the request where the message has none."""
        return self.request.url if self.wire.url is UNSET else self.wire.url or self.request.url

    @property
    def headers(self) -> TextPairs:
        """All headers, names in lower case."""
        return tuple(lower_case(self.wire.headers, self.wire.headers_list))

    def read(self) -> bytes:
        """Return the body.

        :raises UsageError: the response was disposed, or the proxy did not keep the whole body
            (feature ``stream``): it must not seem to be empty.
        """
        if self.disposed:
            raise UsageError("the response has been disposed")
        if self.wire.truncated is True:
            raise UsageError(
                f"the proxy did not keep the body of {self.request.shown_url} whole: the "
                "application read no further, or it is longer than --history-body-bytes"
            )
        return body.to_bytes(self.wire.body_base64)
