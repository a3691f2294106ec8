"""The answers of a route, as the registry keeps them."""

from __future__ import annotations

from attrs import field, frozen
from msgspec import UNSET, structs

from trafficmock.core.har.har_lookup import HarLookup
from trafficmock.core.state.har_recording import HarRecording
from trafficmock.wire.payloads.answer import Abort, Fulfill
from trafficmock.wire.payloads.body import NULL
from trafficmock.wire.payloads.serialized_response import SerializedResponse


@frozen(eq=False)
class KeptAnswers:
    """The answers of a route: to one request after the other, those of its HAR, or real ones.

    :param given: the last one is repeated; their responses are corrected.
    :param recording: what records the answers of the real server.
    :param size: the bytes that count in ``--reply-bytes``.
    """

    given: tuple[Fulfill | Abort, ...] = field(repr=False, default=())
    har: HarLookup | None = None
    recording: HarRecording | None = None
    size: int = 0

    def heads(self) -> list[SerializedResponse | None]:
        """Return the responses without bodies; ``None`` for answers that fail or break."""
        return [
            structs.replace(each.response, body_base64=NULL)
            if isinstance(each, Fulfill) and each.fault is UNSET
            else None
            for each in self.given
        ]

    @property
    def response(self) -> SerializedResponse | None:
        """The response to all requests, if it is one."""
        only = self.given[0] if len(self.given) == 1 else None
        return only.response if isinstance(only, Fulfill) else None
