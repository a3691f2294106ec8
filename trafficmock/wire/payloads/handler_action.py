"""What a handler may decide about a request, or ask for."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from trafficmock.wire.payloads.numbers import SafeInt
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import SerializedResponse

AbortCode = Literal[
    "failed", "aborted", "timedout", "connectionrefused", "connectionreset", "namenotresolved"
]


class HandlerAction(Struct, frozen=True, tag_field="action", rename="camel", omit_defaults=True):
    """The parent of what a handler may decide."""


class Fulfill(HandlerAction, frozen=True, tag="fulfill"):
    """Answer with this response.

    :param route_id: it is the reply of that route, and one of its ``times`` (feature ``reply``).
    """

    response: SerializedResponse
    route_id: str | UnsetType = UNSET


class Continue(HandlerAction, frozen=True, tag="continue"):
    """Send it upstream, changed or not.

    :param unhandled: no handler decided so: the last one fell back (feature ``strict``).
    """

    overrides: SerializedOverrides | UnsetType = UNSET
    unhandled: bool | UnsetType = UNSET


class Abort(HandlerAction, frozen=True, tag="abort"):
    """Fail it; a message stands here when the handler itself failed."""

    error_code: AbortCode
    message: str | UnsetType = UNSET


class Fetch(HandlerAction, frozen=True, tag="fetch"):
    """Ask the upstream and hand the answer to the handler; decides nothing."""

    fetch_id: str
    overrides: SerializedOverrides | UnsetType = UNSET
    max_redirects: SafeInt | UnsetType = UNSET
    max_retries: SafeInt | UnsetType = UNSET


class Decline(HandlerAction, frozen=True, tag="decline"):
    """The test does not want it any more (feature ``decline``)."""
