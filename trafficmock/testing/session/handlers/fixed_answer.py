"""A fixed response in the place of a handler, which ``mock`` registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field
from msgspec import UNSET, structs

from trafficmock.testing.session.handlers import mock_response

if TYPE_CHECKING:
    from trafficmock.testing.session.handlers.mock_response import Mock
    from trafficmock.testing.session.handlers.routed_request import RoutedRequest
    from trafficmock.testing.session.ports import Done
    from trafficmock.wire.payloads.serialized_response import SerializedResponse


@define(eq=False)
class FixedAnswer:
    """A handler that always fulfils with the same response.

    :param mock: the arguments of the test.
    :ivar response: the response; it has no URL, because that is the request's.
    :raises UsageError: an argument is invalid.
    """

    mock: Mock
    response: SerializedResponse = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.response = structs.replace(mock_response.build(self.mock, ""), url=UNSET)

    def __repr__(self) -> str:
        return f"of a mock with status {self.response.status}"

    def run(self, routed: RoutedRequest, done: Done) -> None:
        """Fulfil a request, if the proxy has no room for the response."""
        try:
            routed.fulfill(self.mock)
        except Exception as error:  # noqa: BLE001 - for example, the test has ended
            done(None, error)
        else:
            done(None, None)
