# Written from async_caller.py by tools/blocking_api.py: do not edit.
"""What the objects of a test call the session by."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from trafficmock.testing.promise import Promise
from trafficmock.testing.session.observation.request_state import RequestState, ResponseState

if TYPE_CHECKING:
    from trafficmock.testing.objects.blocking.request import Request
    from trafficmock.testing.objects.blocking.response import Response

T = TypeVar("T")


class Caller(Protocol):
    """The calls of an adapter of blocking tests (:class:`.Adapter`)."""

    def call(self, function: Callable[[], T]) -> T:
        """Call a function on the session's thread, and return its result or raise its error."""

    def wait_for(self, function: Callable[[], Promise[T]]) -> T:
        """Call a function on the session's thread, and wait for its promise."""

    def settled(self, promise: Promise[None]) -> None:
        """Return a promise of the session as what a call gives."""

    def heed(self, promise: Promise[None]) -> None:
        """Raise the error of a promise of the session here, if the test blocks."""

    def done(self) -> None:
        """Return the result of a call that is finished."""

    @overload
    def show(self, state: None) -> None: ...

    @overload
    def show(self, state: RequestState) -> Request: ...

    @overload
    def show(self, state: ResponseState) -> Response: ...

    @overload
    def show(self, state: RequestState | ResponseState | None) -> Any: ...
