"""A result that comes later, delivered to callbacks; it needs no event loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar, cast

from attrs import define, field

T = TypeVar("T")
U = TypeVar("U")


@define(eq=False)
class Promise(Generic[T]):
    """A result that is settled once, by a value or an error; later attempts change nothing.

    :param on_cancel: called when the wait is cancelled before the promise is settled.
    :ivar done: whether the promise is settled.
    :ivar error: the error that settled it; ``None`` after a value.
    """

    on_cancel: Callable[[], object] | None = None
    done: bool = field(init=False, default=False)
    error: BaseException | None = field(init=False, default=None)
    _value: T | None = field(init=False, default=None)
    _watchers: list[Callable[[Promise[T]], object]] = field(init=False, factory=list)

    @property
    def value(self) -> T:
        """The value that settled the promise.

        :raises BaseException: the error that settled it.
        """
        if self.error is not None:
            raise self.error
        return cast("T", self._value)

    def resolve(self, value: T) -> bool:
        """Settle the promise with a value; return whether it was open."""
        return self._settle(value, None)

    def reject(self, error: BaseException) -> bool:
        """Settle the promise with an error; return whether it was open."""
        return self._settle(None, error)

    def cancel(self) -> None:
        """Cancel the wait: call ``on_cancel`` unless the promise is settled."""
        if not self.done and self.on_cancel is not None:
            self.on_cancel()

    def watch(self, callback: Callable[[Promise[T]], object]) -> None:
        """Call ``callback`` with this promise once it is settled, or now if it is already."""
        if self.done:
            callback(self)
        else:
            self._watchers.append(callback)

    def _settle(self, value: T | None, error: BaseException | None) -> bool:
        if self.done:
            return False
        self.done, self._value, self.error = True, value, error
        watchers, self._watchers = self._watchers, []
        for callback in watchers:
            callback(self)
        return True


def settled(value: T) -> Promise[T]:
    """Return a promise that is resolved already."""
    promise: Promise[T] = Promise()
    promise.resolve(value)
    return promise


def all_of(promises: Iterable[Promise[Any]]) -> Promise[None]:
    """Return a promise that is settled once all of ``promises`` are.

    It is rejected with the error of the first one in the list that failed, else resolved.
    """
    waiting = list(promises)
    result: Promise[None] = Promise()
    left = len(waiting)

    def one_done(_: Promise[Any]) -> None:
        nonlocal left
        left -= 1
        if not left:
            finish()

    def finish() -> None:
        errors = [each.error for each in waiting if each.error is not None]
        if errors:
            result.reject(errors[0])
        else:
            result.resolve(None)

    if not waiting:
        finish()
    for each in waiting:
        each.watch(one_done)
    return result


def mapped(promise: Promise[T], show: Callable[[T], U]) -> Promise[U]:
    """Return a promise of ``show(value)`` for another promise's value.

    Errors of ``promise`` and of ``show`` are passed on, and so is a cancellation of the result.
    """
    result: Promise[U] = Promise(on_cancel=promise.cancel)

    def done(settled: Promise[T]) -> None:
        if settled.error is not None:
            result.reject(settled.error)
            return
        try:
            value = show(settled.value)
        except BaseException as error:  # noqa: BLE001 - the caller gets it from the promise
            result.reject(error)
        else:
            result.resolve(value)

    promise.watch(done)
    return result


def chained(promise: Promise[T], next_: Callable[[T], Promise[U]]) -> Promise[U]:
    """Return a promise of what ``next_`` promises for another promise's value.

    Errors of ``promise`` and of ``next_`` itself are passed on.
    """
    result: Promise[U] = Promise(on_cancel=promise.cancel)

    def settle(second: Promise[U]) -> None:
        if second.error is not None:
            result.reject(second.error)
        else:
            result.resolve(second.value)

    def done(first: Promise[T]) -> None:
        if first.error is not None:
            result.reject(first.error)
            return
        try:
            second = next_(first.value)
        except BaseException as error:  # noqa: BLE001 - the caller gets it from the promise
            result.reject(error)
        else:
            second.watch(settle)

    promise.watch(done)
    return result
