"""Contexts: opaque ids that requests carry in a header, and the tests that they belong to.

The context of a request decides which tests can own it:

* the context of a running test: that test by its own routes, else by the shared routes of its
  worker, else by those of the run. If none matches, no test owns the request;
* the context of a test that ended less than :data:`LATE_SECONDS` ago (a late request): as that of
  the only running test. With several running tests, no test owns the request, and it is refused if
  a route of one matches: it must not reach the real network. It is marked as late;
* any other context, or none: all tests. A context that no test has reserved is not stored.

What a framework sends for itself (``Registry.framework_call``) has no context, whatever it carries,
and is only for shared routes and those of the run (:func:`for_no_test`).

A request that no test owns passes, unless strict mode refuses it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet

from attrs import define, field
from msgspec import structs

from trafficmock.core.deadlines import Deadline, Deadlines
from trafficmock.core.effects import EffectList
from trafficmock.core.state.lifecycle import ContextTest, EndedTest
from trafficmock.core.state.registered import MatchingTests, RegisteredTest
from trafficmock.records import CarriedContext

LATE_SECONDS = 30.0
"""Seconds after the end of a test in which its context is still known."""

MOST_ENDED = 10_000
"""The most contexts of ended tests; above it, the oldest is forgotten."""


@define
class Contexts:
    """The contexts of running tests, and of tests that ended within :data:`LATE_SECONDS`."""

    deadlines: Deadlines
    running: dict[str, RegisteredTest] = field(factory=dict)
    ended: OrderedDict[str, EndedTest] = field(factory=OrderedDict)
    _forgetting: Deadline | None = None

    def reserve(self, context: str, test: RegisteredTest) -> None:
        """Set the context of a test; no other running test has it.

        The context of an ended test may be reserved again: a page may outlive its test,
        and a worker that lost its connection registers its tests anew.
        """
        self.ended.pop(context, None)
        self.running[context] = test
        test.context = context
        test.carried = CarriedContext(test.id, test.title, test.file, late=False)

    def release(self, test: RegisteredTest, out: EffectList) -> None:
        """Move the context of a test that has ended from the running to the ended ones."""
        if test.context is not None:
            now = out.now.seconds
            del self.running[test.context]
            late = CarriedContext(test.id, test.title, test.file, late=True)
            self.ended[test.context] = EndedTest(late, now, test.allow_late)
            self._forget_ended(out)

    def resolve(self, context: str, now: float) -> ContextTest | None:
        """Return the test of a context; ``None`` for an unknown one.

        :param now: the time of the request in monotonic seconds; it may be before the end of the
            test, for a request that is reported late.
        """
        test = self.running.get(context)
        if test is not None:
            return test
        ended = self.ended.get(context)
        if ended is None or _is_over(ended, now):
            return None
        if now < ended.ended_at:
            in_time = structs.replace(ended.carried, late=False)
            return EndedTest(in_time, ended.ended_at, ended.allow_late)
        return ended

    def seen(self, context: str, now: float) -> ContextTest | None:
        """Note that a context came into an attached application, and return its test.

        :param now: as in :meth:`resolve`.
        """
        test = self.resolve(context, now)
        if isinstance(test, RegisteredTest):
            test.context_seen = True
        return test

    def _forget_ended(self, out: EffectList) -> None:
        """Forget the contexts of tests that ended :data:`LATE_SECONDS` ago, or above the limit."""
        self.deadlines.cancel(self._forgetting)
        while self.ended:
            oldest = next(iter(self.ended.values()))
            if len(self.ended) <= MOST_ENDED and not _is_over(oldest, out.now.seconds):
                due = oldest.ended_at + LATE_SECONDS
                self._forgetting = self.deadlines.add(due, self._forget_ended, out)
                return
            self.ended.popitem(last=False)

    def late_strict(self) -> Iterator[str]:
        """Yield the contexts of ended strict tests, whose late requests are refused."""
        for context, ended in self.ended.items():
            if ended.allow_late is not None:
                yield context


def title_of_ended(test: ContextTest | None) -> str:
    """Return the title of an ended test; an empty text for a running one, or none."""
    if isinstance(test, RegisteredTest):
        return test.title if test.is_over else ""
    return "" if test is None else test.carried.title


def _is_over(ended: EndedTest, now: float) -> bool:
    # As its deadline: with a difference in its place, rounding may put this after the wake-up.
    return now >= ended.ended_at + LATE_SECONDS


def only_test(tests: Iterable[RegisteredTest]) -> RegisteredTest | None:
    """Return the only running test, apart from those with shared routes; ``None`` for several."""
    running = [test for test in tests if not test.shared]
    return running[0] if len(running) == 1 else None


def narrow(
    found: MatchingTests | None, test: RegisteredTest, of_run: Collection[str] = ()
) -> tuple[MatchingTests | None, tuple[str, ...]]:
    """Filter the tests that may own a request with the context of ``test``.

    :param of_run: the ids of the tests with routes of the run.
    :returns: the tests among ``found`` that may, and the ids of the matching routes of the others.
    """
    if found is None:
        return None, ()
    if len(found.yes) == 1 and not found.undecided and not found.awaiting:
        ((only, _),) = found.yes.values()
        if only is test:
            return found, ()
    mine = MatchingTests(open_routes=found.open_routes)
    others: list[str] = []
    for test_id, (each, routes) in found.yes.items():
        if each.serves(test):
            mine.yes[test_id] = each, routes
        else:
            others += [route.id for route in routes]
    mine.undecided = {i: each for i, each in found.undecided.items() if each.serves(test)}
    mine.awaiting = [ids for ids in found.awaiting if _has_one_for(ids, test, of_run)]
    wanted = mine if mine.yes or mine.undecided or mine.awaiting else None
    return wanted, tuple(others)


def for_no_test(found: MatchingTests | None) -> MatchingTests | None:
    """Filter the tests that may have a request which belongs to no test: the shared ones."""
    if found is None:
        return None
    left = MatchingTests(open_routes=found.open_routes)
    left.yes = {i: each for i, each in found.yes.items() if each[0].shared}
    left.undecided = {i: each for i, each in found.undecided.items() if each.shared}
    return left if left.yes or left.undecided else None


def _has_one_for(ids: AbstractSet[str], test: RegisteredTest, of_run: Collection[str]) -> bool:
    if test.id in ids or not ids.isdisjoint(of_run):
        return True
    return any(each.shared and each.id in ids for each in test.worker.tests.values())
