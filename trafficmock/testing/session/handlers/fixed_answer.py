"""A fixed response in the place of a handler, which ``mock`` registers; the proxy gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, frozen
from msgspec import UNSET, structs

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments.fault_options import read_rate
from trafficmock.testing.session.handlers import mock_response
from trafficmock.testing.session.handlers.written_stream import content_of
from trafficmock.wire.payloads.handler_action import Fulfill, SequenceStep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from msgspec import UnsetType

    from trafficmock.testing.session.handlers.mock_response import Mock
    from trafficmock.wire.payloads.handler_action import Fault
    from trafficmock.wire.payloads.serialized_response import SerializedResponse


@frozen(eq=False, repr=False)
class FixedAnswer:
    """A response without a URL, because that is the request's.

    :param pieces: the bytes of each piece in which the body is sent.
    """

    response: SerializedResponse
    pieces: list[int] | UnsetType = UNSET

    @classmethod
    def of(cls, mock: Mock, chunks: Iterable[str | bytes] | None = None) -> FixedAnswer:
        """Make a response.

        :param mock: the arguments of the test.
        :param chunks: the pieces of its body, if it is sent in pieces; empty ones are left out.
        :raises UsageError: an argument is invalid.
        """
        if chunks is None:
            return cls(structs.replace(mock_response.build(mock, ""), url=UNSET))
        if (mock.body, mock.json, mock.file) != (None, None, None):
            raise UsageError("chunks exclude body, json, path and fault")
        if isinstance(chunks, str | bytes):
            raise UsageError(f"chunks is a list of the pieces, not {type(chunks).__name__}")
        contents = [content for content in map(content_of, chunks) if content]
        whole = cls.of(evolve(mock, body=b"".join(contents)))
        return cls(whole.response, [len(content) for content in contents])

    def step(
        self, delay_ms: int | UnsetType, fault: Fault | UnsetType, rate: int | None = None
    ) -> SequenceStep:
        """Return the answer as one of a sequence.

        :param delay_ms: the milliseconds after which it is sent, or those between its pieces.
        :param fault: how it breaks.
        :param rate: the bytes of its body that are sent in a second.
        :raises UsageError: it is in pieces and has a fault, or one of these and a rate.
        """
        if self.pieces is not UNSET and fault is not UNSET:
            raise UsageError("chunks exclude body, json, path and fault")
        if rate is None:
            return SequenceStep(Fulfill(self.response, fault=fault), delay_ms, self.pieces)
        if self.pieces is not UNSET or fault is not UNSET:
            raise UsageError("rate excludes chunks and fault")
        return SequenceStep(Fulfill(self.response), delay_ms, rate=read_rate(rate))

    def __repr__(self) -> str:
        return f"of a mock with status {self.response.status}"
