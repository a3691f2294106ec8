"""A test's registered handlers, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field

from trafficmock.testing.session.callables import describe
from trafficmock.testing.session.promise import Promise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trafficmock.testing.adapters.world import Done
    from trafficmock.testing.session.routed_request import RoutedRequest
    from trafficmock.testing.session.url_matchers import Matcher


@define(eq=False)
class RouteEntry:
    """One registered handler.

    :param handler: what the test gave, for ``unroute``.
    :param run: runs it on a routed request and says when it is done.
    :param times: how many requests it takes; ``None`` is any number.
    :param active: it was neither unrouted nor used up.
    :param ignore_errors: what its running calls raise from now on is nobody's business.
    :param running: a promise for each call that has not returned.
    """

    id: str
    matcher: Matcher
    handler: Any
    run: Callable[[RoutedRequest, Done], None] = field(repr=False)
    times: float | None = None
    handled: int = 0
    active: bool = True
    ignore_errors: bool = False
    running: list[Promise[None]] = field(factory=list)

    @property
    def name(self) -> str:
        """Say which handler this is, and where it stands."""
        return describe(self.handler)

    def begin_call(self) -> Promise[None]:
        """Note that a call begins; the promise is kept when it ends."""
        call: Promise[None] = Promise()
        self.running.append(call)
        return call


def limit(times: float | None) -> float | None:
    """Read ``times``: none and NaN are no limit, less than one counts as one."""
    if times is None or times != times:  # noqa: PLR0124 - only NaN differs from itself
        return None
    return max(times, 1)


@define
class RouteList:
    """The live HTTP handlers of a test."""

    _entries: list[RouteEntry] = field(factory=list)

    def __iter__(self) -> Iterator[RouteEntry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: RouteEntry) -> None:
        """Put a handler before all others."""
        self._entries.insert(0, entry)

    def remove(self, entry: RouteEntry) -> None:
        """Take a handler out; the chains that still hold it skip it."""
        entry.active = False
        self._entries.remove(entry)

    def select(self, matcher: Matcher | None, handler: Any) -> list[RouteEntry]:
        """Find what ``unroute`` means; no matcher and no handler are all."""
        return [
            entry
            for entry in self._entries
            if (matcher is None or entry.matcher.same_as(matcher))
            and (handler is None or entry.handler is handler or entry.handler == handler)
        ]
