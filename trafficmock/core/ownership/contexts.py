"""Which test a request was made for, by the context that it carries.

A context is an opaque id that a test puts on its traffic. What a request carries decides:

* the context of a running test: only that test gets it, by its own routes, else by the routes
  that its worker's tests share; when none matches it passes through;
* the context of a test that ended less than :data:`LATE_SECONDS` ago: nobody gets it, and it is
  marked as late;
* anything else, or none: all tests are asked, as ever. An id that no test reserved leaves no trace.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING

from attrs import define, field, frozen
from msgspec import structs

from trafficmock.core.ownership.kept_strictness import KeptTest
from trafficmock.core.ownership.registry import MatchingTests, RegisteredTest
from trafficmock.records import MadeFor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trafficmock.core.effects import EffectList
    from trafficmock.core.ownership.claims import Claimant
    from trafficmock.core.timers import Alarm
    from trafficmock.matching.allow_list import AllowList

LATE_SECONDS = 30.0
"""How long after the end of its test a context still tells whose the traffic was."""

MOST_ENDED = 10_000
"""Contexts of ended tests that are kept; beyond it the oldest is forgotten."""

MOST_LATE_KEPT = 100
"""Tests that ended last among which the next process on the same port is told of strict ones."""

MOST_ALSO_MATCHED = 5
"""Routes of other tests that are named for a request which passed under a context."""


@frozen
class EndedTest:
    """The context of a test that has ended.

    :param made_for: how the history names it.
    :param ended_at: monotonic seconds.
    :param allow_late: as of :class:`RegisteredTest`.
    """

    made_for: MadeFor
    ended_at: float
    allow_late: AllowList | None = None


ContextTest = RegisteredTest | EndedTest
"""The test whose context a request carries."""


@define
class Contexts:
    """The contexts of the tests that run, and of those that ended just now."""

    alarm: Alarm
    running: dict[str, RegisteredTest] = field(factory=dict)
    ended: OrderedDict[str, EndedTest] = field(factory=OrderedDict)

    def reserve(self, context: str, test: RegisteredTest) -> None:
        """Give a test its context, which no running test has.

        The context of a test that has ended may be reserved again: a page may outlive its test,
        and a worker that lost its connection registers its tests anew.
        """
        self.ended.pop(context, None)
        self.running[context] = test
        test.context = context
        test.made_for = MadeFor(test.id, test.title, test.file, late=False)

    def release(self, test: RegisteredTest, out: EffectList) -> None:
        """Note that a test has ended."""
        if test.context is not None:
            now = out.now.seconds
            del self.running[test.context]
            late = MadeFor(test.id, test.title, test.file, late=True)
            self.ended[test.context] = EndedTest(late, now, test.allow_late)
            self.forget_ended(now)
            self.alarm.need(now + LATE_SECONDS, out)

    def resolve(self, context: str, now: float) -> ContextTest | None:
        """Find the test that a context belongs to; ``None`` for a context that counts as none.

        :param now: monotonic seconds of the request, which may have come before the test ended.
        """
        test = self.running.get(context)
        if test is not None:
            return test
        ended = self.ended.get(context)
        if ended is None or _is_over(ended, now):
            return None
        if now < ended.ended_at:
            in_time = structs.replace(ended.made_for, late=False)
            return EndedTest(in_time, ended.ended_at, ended.allow_late)
        return ended

    def forget_ended(self, now: float) -> None:
        """Forget the contexts that count as none by now, and the oldest beyond the limit."""
        while self.ended:
            oldest = next(iter(self.ended.values()))
            if len(self.ended) <= MOST_ENDED and not _is_over(oldest, now):
                return
            self.ended.popitem(last=False)

    def remember(self, context: str, made_for: MadeFor, allow: AllowList, out: EffectList) -> None:
        """Count a strict test of an earlier process on this port as one that ended just now."""
        self.ended[context] = EndedTest(made_for, out.now.seconds, allow)
        self.alarm.need(out.now.seconds + LATE_SECONDS, out)

    def late_strict(self) -> Iterator[str]:
        """List the contexts of strict tests that ended just now: their requests are refused."""
        for context, ended in self.ended.items():
            if ended.allow_late is not None:
                yield context

    def late_tests(self) -> Iterator[KeptTest]:
        """List the strict ones among the tests that ended last, for the next process."""
        for context, ended in islice(reversed(self.ended.items()), MOST_LATE_KEPT):
            if ended.allow_late is not None:
                test = ended.made_for
                texts = ended.allow_late.texts
                yield KeptTest(context, test.test_id, test.title, test.file, texts)

    def next_deadline(self) -> float | None:
        """Tell when the next context of an ended test counts as none."""
        for ended in self.ended.values():
            return ended.ended_at + LATE_SECONDS
        return None


def title_of_ended(test: ContextTest | None) -> str:
    """Name a test that has ended; an empty text for one that runs, or none."""
    if isinstance(test, RegisteredTest):
        return test.title if test.is_over else ""
    return "" if test is None else test.made_for.title


def _is_over(ended: EndedTest, now: float) -> bool:
    return now - ended.ended_at >= LATE_SECONDS


def narrow(
    found: MatchingTests | None, test: ContextTest
) -> tuple[MatchingTests | None, tuple[str, ...]]:
    """Leave only the tests that may have a request which carries the context of ``test``.

    :returns: those among ``found``, and the first route ids of the others that match for certain.
    """
    if found is None:
        return None, ()
    if len(found.yes) == 1 and not found.undecided:
        ((only, _),) = found.yes.values()
        if only is test:
            return found, ()
    mine = MatchingTests(unsure=found.unsure)
    others: list[str] = []
    for test_id, (each, routes) in found.yes.items():
        if _is_for(each, test):
            mine.yes[test_id] = each, routes
        else:
            others += [route.id for route in routes]
    mine.undecided = {i: each for i, each in found.undecided.items() if _is_for(each, test)}
    wanted = mine if mine.yes or mine.undecided else None
    return wanted, tuple(others[:MOST_ALSO_MATCHED])


def _is_for(each: RegisteredTest, test: ContextTest) -> bool:
    if isinstance(test, EndedTest):
        return False
    return each is test or (each.shared and each.worker is test.worker)


def without_outranked(claimants: list[Claimant], test: ContextTest | None) -> list[Claimant]:
    """Leave out shared routes that a test of the same worker outranks, or newer shared ones.

    :param test: whose context it is that they claim, if any; its own routes outrank the others.
    """
    first: dict[str, Claimant] = {}  # of each worker with none but shared routes
    own = {each.worker.id for each, _ in claimants if not each.shared or each is test}
    for claimant in claimants:
        worker_id = claimant[0].worker.id
        known = first.get(worker_id)
        if known is None or claimant[1][-1].sequence > known[1][-1].sequence:
            first[worker_id] = claimant
    return [
        claimant
        for claimant in claimants
        if (
            not claimant[0].shared or claimant[0] is test
            if claimant[0].worker.id in own
            else first[claimant[0].worker.id] is claimant
        )
    ]
