"""The response as it travels, and the error that stands in its place."""

from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from trafficmock.wire.payloads.serialized_request import BodySize, HeaderPairs

REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""The statuses that a client follows when there is a ``Location``."""

Status = Annotated[int, Meta(ge=0, le=599)]

FINAL_STATUSES = range(200, 600)
"""What a mock may have: below 200 the client would wait on (RFC 9110, section 15.2).

``fulfill`` refuses others (``testing.session.handlers.mock_response``), the coordinator those of
other clients (``core.http.response_rules``), and so does the Node agent
(``agent/src/exchange/mock.js``).
"""


class SerializedResponse(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """An HTTP response with its decoded body (protocol 3 ``SerializedResponse``).

    ``truncated`` and ``body_size`` mean what they mean in a request.
    """

    status: Status
    status_text: str
    headers: dict[str, str]
    body_base64: Raw
    url: str | UnsetType = UNSET
    headers_list: HeaderPairs | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET
    body_size: BodySize | UnsetType = UNSET

    def is_redirect(self) -> bool:
        """Tell whether a client that follows redirects goes on from here."""
        return self.status in REDIRECTS and bool(self.headers.get("location"))


REQUEST_SETTLED = "request_settled"
"""The code of a fetch that failed because nobody waits for its request any more."""


class SerializedError(Struct, frozen=True, omit_defaults=True):
    """Why there is no response (protocol 3 ``SerializedError``)."""

    name: str
    message: str
    stack: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
