"""The mocks of a test that awaits its calls."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Unpack

from trafficmock.testing.objects.capture_warning import warn_of_capture
from trafficmock.testing.objects.expectations import AsyncExpectation
from trafficmock.testing.objects.request import AsyncRequest
from trafficmock.testing.objects.response import AsyncResponse
from trafficmock.testing.objects.route_handle import AsyncRouteHandle
from trafficmock.testing.objects.stream import AsyncStream
from trafficmock.testing.objects.traffic_mock import BaseTrafficMock
from trafficmock.wire.payloads.refused_request import UnmatchedRequest

if TYPE_CHECKING:
    from trafficmock.testing.session.arguments.match_conditions import MatchArguments
    from trafficmock.testing.session.arguments.url_matchers import Names, UrlMatcher


class AsyncTrafficMock(
    BaseTrafficMock[
        Awaitable[None],
        Awaitable[list[BaseException]],
        Awaitable[list[UnmatchedRequest]],
        Awaitable[AsyncRequest],
        Awaitable[AsyncResponse],
        AsyncExpectation[AsyncRequest],
        AsyncExpectation[AsyncResponse],
        Awaitable[AsyncStream],
        Awaitable[AsyncRouteHandle],
    ]
):
    """The mocks of an asyncio or Twisted test."""

    expectation = AsyncExpectation

    async def tag(self, context: Any, *origins: str) -> None:
        """Add the cookie with the context of this test to a browser context of async Playwright.

        See :meth:`trafficmock.testing.sync.TrafficMock.tag`.
        """
        await context.add_cookies(self._cookies(origins))

    async def requests(
        self,
        url: UrlMatcher = None,
        *,
        method: Names = None,
        client_id: Names = None,
        **match: Unpack[MatchArguments],
    ) -> list[AsyncRequest]:
        """Return the requests of all applications since the test began, oldest first.

        See :meth:`trafficmock.testing.sync.TrafficMock.requests`.
        """
        found: list[AsyncRequest] = await self._requests(url, method, client_id, match)
        warn_of_capture(self._session)
        return found


def finish(mocks: AsyncTrafficMock) -> Awaitable[list[BaseException]]:
    """End a test; the awaitable has the errors that are left."""
    return mocks._finish()  # noqa: SLF001 - for those who run tests, not for tests
