"""The blocks that wait for a request or a response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from trafficmock.testing.promise import mapped
from trafficmock.testing.session.observation.waiting import Waiter

if TYPE_CHECKING:
    from trafficmock.testing.objects.async_caller import AsyncCaller


T = TypeVar("T")


class AsyncExpectation(Generic[T]):
    """A wait for a request or response within an ``async with`` block.

    It begins when the object is made. The end of the block waits for the match; an error in the
    block cancels the wait.
    """

    def __init__(self, adapter: AsyncCaller, begin: Callable[[], Waiter]) -> None:
        self._adapter = adapter
        self._waiter = adapter.call(begin)

    async def __aenter__(self) -> AsyncExpectation[T]:
        await self._adapter.wait_for(lambda: self._waiter.ready)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            await self._value()
        else:
            self.cancel()

    @property
    def value(self) -> Awaitable[T]:
        """The request or response, which is waited for.

        :raises WaitTimeoutError: none matched within the timeout.
        :raises TestEndedError: the test ended, or the wait was cancelled.
        :raises ConnectionLostError: the connection to the proxy was lost.
        """
        return self._value()

    def cancel(self) -> None:
        """Cancel the wait."""
        self._adapter.call(self._waiter.promise.cancel)

    def is_done(self) -> bool:
        """Return whether the wait has ended, by a match or by an error."""
        return self._adapter.call(lambda: self._waiter.promise.done)

    def _value(self) -> Awaitable[T]:
        show: Callable[[Any], T] = self._adapter.show
        return self._adapter.wait_for(lambda: mapped(self._waiter.promise, show))
