"""A value that is there later, as plain callbacks: no event loop needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")
U = TypeVar("U")


@define(eq=False)
class Promise(Generic[T]):
    """Settled once, by a value or an error; later attempts change nothing.

    :param on_cancel: called when whoever waits gives up before it is settled.
    """

    on_cancel: Callable[[], object] | None = None
    done: bool = field(init=False, default=False)
    error: BaseException | None = field(init=False, default=None)
    _value: T | None = field(init=False, default=None)
    _watchers: list[Callable[[Promise[T]], object]] = field(init=False, factory=list)

    @property
    def value(self) -> T:
        """The value it was settled with.

        :raises BaseException: the error it was settled with.
        """
        if self.error is not None:
            raise self.error
        return cast("T", self._value)

    def resolve(self, value: T) -> bool:
        """Settle it with a value; tell whether it was open."""
        return self._settle(value, None)

    def reject(self, error: BaseException) -> bool:
        """Settle it with an error; tell whether it was open."""
        return self._settle(None, error)

    def cancel(self) -> None:
        """Cancel the wait; a later result is dropped."""
        if not self.done and self.on_cancel is not None:
            self.on_cancel()

    def watch(self, callback: Callable[[Promise[T]], object]) -> None:
        """Call back with this promise once it is settled; at once when it is."""
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
    """Make a promise that is kept already."""
    promise: Promise[T] = Promise()
    promise.resolve(value)
    return promise


def all_of(promises: Iterable[Promise[Any]]) -> Promise[None]:
    """Make a promise that is kept once all are settled, whichever way.

    It fails with the first error, after the last one is settled.
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
    """Make a promise for a function's result on another's value; giving up is passed on."""
    result: Promise[U] = Promise(on_cancel=promise.cancel)

    def done(settled: Promise[T]) -> None:
        if settled.error is not None:
            result.reject(settled.error)
        else:
            result.resolve(show(settled.value))

    promise.watch(done)
    return result
