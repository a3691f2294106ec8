"""Mocks whose calls are awaited: the same for asyncio and for Twisted, which gives Deferreds."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from trafficmock.testing.objects.api import warn_of_capture
from trafficmock.testing.objects.expectations import AsyncExpectation
from trafficmock.testing.objects.request import AsyncRequest
from trafficmock.testing.objects.response import AsyncResponse
from trafficmock.testing.objects.traffic_mock import BaseTrafficMock

if TYPE_CHECKING:
    from trafficmock.testing.session.url_matchers import Names, UrlMatcher


class AsyncTrafficMock(
    BaseTrafficMock[
        Awaitable[None],
        Awaitable[list[BaseException]],
        Awaitable[AsyncRequest],
        Awaitable[AsyncResponse],
        AsyncExpectation[AsyncRequest],
        AsyncExpectation[AsyncResponse],
    ]
):
    """The mocks of a test that awaits its calls."""

    expectation = AsyncExpectation

    async def requests(
        self, url: UrlMatcher = None, *, method: Names = None, client_id: Names = None
    ) -> list[AsyncRequest]:
        """List the requests of all applications since the test began, oldest first."""
        found: list[AsyncRequest] = await self._requests(url, method, client_id)
        warn_of_capture(self._calls.session)
        return found


def finish(mocks: AsyncTrafficMock) -> Awaitable[list[BaseException]]:
    """End a test, and give the errors that are left."""
    return mocks._finish()  # noqa: SLF001 - for those who run tests, not for tests
