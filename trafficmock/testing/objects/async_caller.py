"""What the objects of a test call the session by."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from trafficmock.testing.promise import Promise
from trafficmock.testing.session.observation.request_state import RequestState, ResponseState

if TYPE_CHECKING:
    from trafficmock.testing.objects.async_request import AsyncRequest
    from trafficmock.testing.objects.async_response import AsyncResponse

T = TypeVar("T")


class AsyncCaller(Protocol):
    """The calls of an adapter of asyncio and Twisted tests (:class:`.Adapter`)."""

    def call(self, function: Callable[[], T]) -> T:
        """Call a function on the session's thread, and return its result or raise its error."""

    def wait_for(self, function: Callable[[], Promise[T]]) -> Awaitable[T]:
        """Call a function on the session's thread, and wait for its promise."""

    def settled(self, promise: Promise[None]) -> Awaitable[None]:
        """Return a promise of the session as what a call gives."""

    def heed(self, promise: Promise[None]) -> None:
        """Raise the error of a promise of the session here, if the test blocks."""

    def done(self) -> Awaitable[None]:
        """Return the result of a call that is finished."""

    @overload
    def show(self, state: None) -> None: ...

    @overload
    def show(self, state: RequestState) -> AsyncRequest: ...

    @overload
    def show(self, state: ResponseState) -> AsyncResponse: ...

    @overload
    def show(self, state: RequestState | ResponseState | None) -> Any: ...
