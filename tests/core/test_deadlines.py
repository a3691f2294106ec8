"""What the core does later."""

from collections.abc import Callable
from functools import partial

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.growth import GrowthMixin
from trafficmock.core.deadlines import Deadline, Deadlines
from trafficmock.core.effects import EffectList, Moment, Wake


def at(seconds: float) -> EffectList:
    return EffectList(Moment(seconds, 0))


def nothing(out: EffectList) -> None:
    """Do nothing."""


def add_and_cancel(number: int) -> None:
    """Let as many deadlines be added and cancelled, in an order that is not theirs."""
    deadlines = Deadlines()
    every = [deadlines.add(float(index % 7), nothing, at(0)) for index in range(number)]
    for each in every:
        deadlines.cancel(each)


class DeadlinesTests(GrowthMixin, SynchronousTestCase):
    """One heap for all rules."""

    def setUp(self) -> None:
        self.deadlines = Deadlines()
        self.done: list[str] = []

    def noting(self, name: str) -> Callable[[EffectList], None]:
        return partial(self._note, name)

    def _note(self, name: str, _: EffectList) -> None:
        self.done.append(name)

    @given(
        st.lists(
            st.one_of(
                st.integers(0, 20).map(lambda due: ("add", due)),
                st.integers(0, 30).map(lambda place: ("cancel", place)),
                st.integers(0, 20).map(lambda now: ("tick", now)),
            ),
            max_size=200,
        )
    )
    def test_any_order(self, steps: list[tuple[str, int]]) -> None:
        """What is due is done once, the earliest first; what was cancelled is not."""
        deadlines, done = Deadlines(), list[int]()
        known: list[tuple[Deadline, int]] = []
        open_: dict[int, int] = {}
        now, wake = 0, float("inf")
        for step, value in steps:
            out = at(now)
            if step == "add":
                number = len(known)
                act = partial(lambda number, _: done.append(number), number)
                known.append((deadlines.add(value, act, out), number))
                open_[number] = value
            elif step == "cancel" and known:
                deadline, number = known[value % len(known)]
                deadlines.cancel(deadline)
                open_.pop(number, None)
            elif step == "tick":
                now, wake = max(now, value), float("inf")
                out = at(now)
                due = sorted((at, number) for number, at in open_.items() if at <= now)
                done.clear()
                deadlines.tick(out)
                self.assertEqual(done, [number for _, number in due])
                for _, number in due:
                    del open_[number]
            wake = min([wake, *(each.at for each in out if isinstance(each, Wake))])
            self.assertLessEqual(wake, min(open_.values(), default=float("inf")))

    def test_wake_up(self) -> None:
        """Only an earlier wake-up is asked for besides."""
        out = at(0)
        for due in (5.0, 7.0, 3.0):
            self.deadlines.add(due, nothing, out)
        self.assertEqual(out, [Wake(5.0), Wake(3.0)])
        self.deadlines.tick(out := at(3))
        self.assertEqual(out, [Wake(5.0)])

    def test_cancelled_meanwhile(self) -> None:
        """What an earlier one of the same turn cancels is not done."""
        self.deadlines.add(1.0, lambda _: self.deadlines.cancel(second), at(0))
        second = self.deadlines.add(2.0, self.noting("second"), at(0))
        self.deadlines.tick(out := at(2))
        self.assertEqual((self.done, out), ([], []))

    def test_added_meanwhile(self) -> None:
        """What is added in a turn waits for the next one, which comes at once."""
        self.deadlines.add(
            1.0, lambda out: void(self.deadlines.add(1.0, self.noting("next"), out)), at(0)
        )
        self.deadlines.tick(out := at(1))
        self.assertEqual((self.done, out), ([], [Wake(1.0)]))
        self.deadlines.tick(at(1))
        self.assertEqual(self.done, ["next"])

    def test_error(self) -> None:
        """An error harms nothing that was due behind it."""

        def fail(_: EffectList) -> None:
            raise LookupError

        self.deadlines.add(1.0, fail, at(0))
        self.deadlines.add(1.0, self.noting("behind"), at(0))
        self.assertRaises(LookupError, self.deadlines.tick, at(1))
        self.deadlines.tick(at(1))
        self.deadlines.tick(at(2))
        self.assertEqual(self.done, ["behind"])

    def test_linear(self) -> None:
        """Cancelled deadlines are neither kept nor looked for."""
        self.assert_linear(int, add_and_cancel, 500)


def void(_: object) -> None:
    """Forget a value."""
