"""A fixed response in the place of a handler, which ``mock`` registers; the proxy gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen
from msgspec import UNSET, structs

from trafficmock.testing.session.handlers import mock_response

if TYPE_CHECKING:
    from trafficmock.testing.session.handlers.mock_response import Mock
    from trafficmock.wire.payloads.serialized_response import SerializedResponse


@frozen(eq=False, repr=False)
class FixedAnswer:
    """A response without a URL, because that is the request's."""

    response: SerializedResponse

    @classmethod
    def of(cls, mock: Mock) -> FixedAnswer:
        """Make the response that a mock describes.

        :param mock: the arguments of the test.
        :raises UsageError: an argument is invalid.
        """
        return cls(structs.replace(mock_response.build(mock, ""), url=UNSET))

    def __repr__(self) -> str:
        return f"of a mock with status {self.response.status}"
