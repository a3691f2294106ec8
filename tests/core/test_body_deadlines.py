"""How long bodies are waited for."""

from typing import Any

from attrs import define
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.growth import GrowthMixin
from trafficmock.core.effects import EffectList, Moment
from trafficmock.core.timers import Alarm, BodyDeadlines

NOW = Moment(0.0, 0)
SECONDS = 60.0


@define(eq=False)
class Announced:
    """A request, as far as its deadline depends on it."""

    id: str
    announced_at: float


def wait_and_end(number: int) -> None:
    """Let as many bodies be waited for and come, the deadline asked for each time."""
    deadlines = BodyDeadlines(SECONDS, Alarm())
    out = EffectList(NOW)
    every: list[Any] = [Announced(str(index), float(index % 7)) for index in range(number)]
    for each in every:
        deadlines.begin(each, out)
    for each in every:
        deadlines.next_deadline()
        deadlines.end(each)


class BodyDeadlinesTests(GrowthMixin, SynchronousTestCase):
    """Requests are matched, and so begin to wait, in another order than they were announced."""

    @given(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), max_size=150),
        st.integers(0, 10),
    )
    def test_any_order(self, steps: list[tuple[int, int, bool]], now: int) -> None:
        """The next deadline is the earliest; overdue are those before it, each told once."""
        deadlines = BodyDeadlines(SECONDS, Alarm())
        awaited: dict[str, Any] = {}
        for key, announced_at, begins in steps:
            if begins:
                awaited[str(key)] = Announced(str(key), float(announced_at))
                deadlines.begin(awaited[str(key)], EffectList(NOW))
            elif str(key) in awaited:
                deadlines.end(awaited.pop(str(key)))
            first = min((each.announced_at for each in awaited.values()), default=None)
            expected = None if first is None else first + SECONDS
            self.assertEqual(deadlines.next_deadline(), expected)
        late = [each for each in awaited.values() if each.announced_at <= now]
        found = deadlines.overdue(Moment(now + SECONDS, 0))
        self.assertEqual(set(found), set(late))
        self.assertEqual(len(found), len(late))
        self.assertEqual(deadlines.overdue(Moment(now + SECONDS, 0)), [])

    def test_linear(self) -> None:
        """The earliest deadline is known without a look at all of them."""
        self.assert_linear(int, wait_and_end, 500)
