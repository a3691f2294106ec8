"""What ``route()`` and ``mock()`` return: the route, with the requests that met it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from trafficmock.testing.objects.async_request import AsyncRequest
from trafficmock.testing.promise import mapped
from trafficmock.testing.session.handlers.http_routes import RouteEntry
from trafficmock.testing.session.session import Session

if TYPE_CHECKING:
    from trafficmock.testing.objects.async_caller import AsyncCaller

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""


class AsyncRouteHandle:
    """A route of an asyncio or Twisted test, with the requests that met it.

    Calls ask the proxy, so they count all requests that the applications have got answers to.
    """

    def __init__(self, session: Session, entry: RouteEntry, adapter: AsyncCaller) -> None:
        self._session = session
        self._entry = entry
        self._adapter = adapter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self._entry.matcher} ({self._entry.place})>"

    @property
    def call_count(self) -> Awaitable[int]:
        """The number of requests that met the route: its handler was called, or it answered."""
        barrier, entry = self._session.client.barrier, self._entry
        return self._adapter.wait_for(lambda: mapped(barrier(), lambda _: entry.handled))

    def requests(self) -> Awaitable[list[AsyncRequest]]:
        """Return the requests that met the route, oldest first.

        Of a route that several tests share, these are the requests of tests that have not ended.
        """
        barrier, entry, show = self._session.client.barrier, self._entry, self._adapter.show
        return self._adapter.wait_for(
            lambda: mapped(barrier(), lambda _: [show(each) for each in entry.requests()])
        )

    def unroute(self) -> Awaitable[None]:
        """Remove the route; the call is done when no later request reaches it."""
        http, entry = self._session.http, self._entry
        return self._adapter.wait_for(
            lambda: mapped(http.remove([entry] if entry.active else []), lambda _: None)
        )
