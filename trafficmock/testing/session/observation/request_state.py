"""One request of the application and its response, as far as they are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field
from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import UsageError
from trafficmock.testing.promise import Promise
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.testing.session.arguments.request_overrides import NO_CHANGES, Changes
from trafficmock.wire.payloads import body

if TYPE_CHECKING:
    from trafficmock.testing.session.arguments.headers import Pairs
    from trafficmock.wire.payloads.serialized_request import SerializedRequest as WireRequest
    from trafficmock.wire.payloads.serialized_response import SerializedResponse as WireResponse


@define(eq=False)
class RequestState:
    """One request from its arrival on.

    :param sequence: its place among all that the test saw.
    :param answered: the response, or ``None`` when there will be none.
    :param changes: what handlers changed so far.
    :param views: what tests see of it, one for each way of writing tests.
    :param seen_at: when the proxy took note of it, by the proxy's clock.
    :param failure: why the real server gave no response, or broke it off, as the proxy's history
        had it when it was asked last.
    """

    id: str
    client_id: str
    wire: WireRequest
    sequence: int
    changes: Changes = NO_CHANGES
    answered: Promise[ResponseState | None] = field(factory=Promise)
    redirected_from: RequestState | None = None
    redirected_to: RequestState | None = None
    views: dict[type, Any] = field(factory=dict)
    seen_at: int | UnsetType = UNSET
    failure: str = ""

    @property
    def url(self) -> str:
        return self.wire.url if self.changes.url is None else self.changes.url

    @property
    def method(self) -> str:
        """The method, as changed so far."""
        return self.changes.method or self.wire.method

    @property
    def original_headers(self) -> Pairs:
        """The headers that the application sent."""
        return hd.from_wire(self.wire.headers, self.wire.headers_list)

    @property
    def headers(self) -> Pairs:
        """The headers, as changed so far."""
        return self.original_headers if self.changes.headers is None else self.changes.headers

    @property
    def content(self) -> bytes:
        """The body, as changed so far.

        :raises UsageError: the proxy did not keep all of it (feature ``stream``): what is no
            longer there must not pass for empty.
        """
        if self.changes.body is not None:
            return self.changes.body
        if self.wire.truncated is True:
            raise UsageError(
                f"the proxy did not keep the body of {self} whole: no test owned the request, "
                "so it was passed on as it came, and it was not all sent or is longer than "
                "--history-body-bytes"
            )
        return body.to_bytes(self.wire.body_base64)

    def with_changes(self, changes: Changes) -> RequestState:
        """Make the request that a handler's fetch sends; it has a life of its own."""
        return RequestState(self.id, self.client_id, self.wire, self.sequence, changes)

    def answer(self, response: ResponseState | None) -> bool:
        """Settle it; tell whether this was the first time."""
        return self.answered.resolve(response)

    def existing(self) -> ResponseState | None:
        """Give the response if it is there."""
        return self.answered.value if self.answered.done else None

    def __str__(self) -> str:
        return f"{self.method} {self.url}"


@define(eq=False)
class ResponseState:
    """One response with its body.

    :param views: what tests see of it, one for each way of writing tests.
    """

    request: RequestState
    wire: WireResponse
    disposed: bool = False
    views: dict[type, Any] = field(factory=dict)

    @property
    def url(self) -> str:
        """Its URL; the request's when the wire gave none."""
        return self.request.url if self.wire.url is UNSET else self.wire.url or self.request.url

    @property
    def headers(self) -> Pairs:
        """All headers, names in lower case."""
        return hd.from_wire(self.wire.headers, self.wire.headers_list)

    def read(self) -> bytes:
        """Decode the body.

        :raises UsageError: it was disposed of, or the proxy did not keep all of it (feature
            ``stream``): what is no longer there must not pass for empty.
        """
        if self.disposed:
            raise UsageError("the response has been disposed")
        if self.wire.truncated is True:
            raise UsageError(
                f"the proxy did not keep the body of {self.url} whole: the application read no "
                "further, or it is longer than --history-body-bytes"
            )
        return body.to_bytes(self.wire.body_base64)
