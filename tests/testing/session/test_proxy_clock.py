"""What the proxy's clock shows at a moment of this process's."""

from itertools import accumulate
from math import ceil, floor

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.testing.session.observation.proxy_clock import ProxyClock

MICROSECONDS = st.integers(0, 10**12)
DELAYS = st.integers(0, 10**6)
DRIFTS = st.floats(-0.0005, 0.0005)


class ProxyClockTests(SynchronousTestCase):
    """Readings of one clock, and of clocks that differ."""

    @given(MICROSECONDS, DELAYS, DELAYS, MICROSECONDS)
    def test_one_machine(self, asked: int, there: int, back: int, moment: int) -> None:
        """On one machine both read the same clock."""
        clock = ProxyClock(asked + there, asked, asked + there + back)
        self.assertEqual(clock.time_of(moment), moment)
        self.assertEqual(clock.elapsed(moment), moment - (asked + there))

    @given(
        st.tuples(DELAYS, DELAYS, MICROSECONDS, MICROSECONDS),
        MICROSECONDS,
        st.tuples(DRIFTS, DRIFTS),
    )
    def test_two_machines(
        self, passing: tuple[int, int, int, int], behind: int, drifts: tuple[float, float]
    ) -> None:
        """What came after a moment is never older than its time, whatever the clocks do."""
        read, answered, moment, seen = accumulate(passing)
        # What the proxy reads is less than what this process read before it asked.
        behind += 2 * read + 10
        theirs, ours = drifts

        def by_proxy(time: int) -> int:
            return ceil(time * (1 + theirs)) - behind

        def by_us(time: int) -> int:
            return floor(time * (1 + ours))

        clock = ProxyClock(by_proxy(read), 0, by_us(answered))
        time = clock.time_of(by_us(moment))
        assert time is not UNSET
        self.assertLessEqual(time, by_proxy(seen) + 2)

    def test_long_before(self) -> None:
        """What came long before a moment is older, also by another machine's clock."""
        clock = ProxyClock(-50_000, 0, 400)
        time = clock.time_of(5_000)
        assert time is not UNSET
        self.assertGreater(time, -49_900)
        self.assertEqual(clock.elapsed(5_000), 4_600)

    def test_no_clock(self) -> None:
        """No time is known where the proxy tells none."""
        self.assertIs(ProxyClock(UNSET, 0, 1).time_of(10), UNSET)
