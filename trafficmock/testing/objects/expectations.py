"""The ``with`` blocks that wait for a request or a response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from trafficmock.testing.promise import mapped

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    from trafficmock.testing.session.observation.waiting import Waiter
    from trafficmock.testing.session.ports import Adapter


T = TypeVar("T")


class BaseExpectation:
    """A wait for a request or response; it begins when the object is made.

    :param begin: begins the wait in the session.
    """

    def __init__(self, adapter: Adapter, begin: Callable[[], Waiter]) -> None:
        self._adapter = adapter
        self._waiter: Waiter = adapter.call(begin)

    def cancel(self) -> None:
        """Cancel the wait."""
        self._adapter.call(self._waiter.promise.cancel)

    def is_done(self) -> bool:
        """Return whether the wait has ended, by a match or by an error."""
        done: bool = self._adapter.call(lambda: self._waiter.promise.done)
        return done

    def _ready(self) -> Any:
        return self._adapter.wait_for(lambda: self._waiter.ready)

    def _value(self) -> Any:
        return self._adapter.wait_for(lambda: mapped(self._waiter.promise, self._adapter.show))


class Expectation(BaseExpectation, Generic[T]):
    """A wait for a request or response within a ``with`` block.

    The end of the block waits for the match; an error in the block cancels the wait.
    """

    def __enter__(self) -> Expectation[T]:
        self._ready()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._value()
        else:
            self.cancel()

    @property
    def value(self) -> T:
        """The request or response; reading the attribute blocks until it has come.

        :raises WaitTimeoutError: none matched within the timeout.
        :raises TestEndedError: the test ended, or the wait was cancelled.
        :raises ConnectionLostError: the connection to the proxy was lost.
        """
        value: T = self._value()
        return value


class AsyncExpectation(BaseExpectation, Generic[T]):
    """A wait for a request or response within an ``async with`` block.

    The end of the block waits for the match; an error in the block cancels the wait.
    """

    async def __aenter__(self) -> AsyncExpectation[T]:
        await self._ready()
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
        """An awaitable of the request or response.

        :raises WaitTimeoutError: none matched within the timeout.
        :raises TestEndedError: the test ended, or the wait was cancelled.
        :raises ConnectionLostError: the connection to the proxy was lost.
        """
        awaited: Awaitable[T] = self._value()
        return awaited
