"""What a list shows of an entry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.command.rows import LEAST_ID, closing, duration, owner, shortened


class ShortenedTests(SynchronousTestCase):
    """Ids in a list."""

    def test_example(self) -> None:
        """As long as it takes to tell them apart, never shorter than eight characters."""
        ids = ["7341eb172fa75", "7341eb172fb00", "short", "x" * 40]
        shown = ["7341eb172fa", "7341eb172fb", "short", "xxxxxxxx"]
        self.assertEqual(list(shortened(ids).values()), shown)
        self.assertEqual(list(shortened(ids, whole=True).values()), sorted(ids))

    @given(st.sets(st.text("ab", min_size=1, max_size=20), max_size=20))
    def test_any(self, ids: set[str]) -> None:
        """What is shown begins one id only, unless it is a whole id."""
        for entry_id, shown in shortened(ids).items():
            self.assertTrue(entry_id.startswith(shown))
            self.assertGreaterEqual(len(shown), min(LEAST_ID, len(entry_id)))
            if shown != entry_id:
                self.assertEqual([each for each in ids if each.startswith(shown)], [entry_id])


class CellTests(SynchronousTestCase):
    """Values."""

    def test_duration(self) -> None:
        """Milliseconds, from a second on seconds, nothing while it is not known."""
        self.assertEqual(
            [duration(n) for n in (None, 0, 999, 1234)], ["", "0 ms", "999 ms", "1.2 s"]
        )

    def test_owner(self) -> None:
        """The title of the owning test, or of all that compete, each once."""
        matches = [{"title": "a"}, {"title": "b"}, {"title": "a"}]
        self.assertEqual(owner({"title": "t"}), "t")
        self.assertEqual(owner({"title": "a/test_b.py::Case::test_c[x]"}), "Case::test_c[x]")
        self.assertEqual(owner({"title": "std::vector grows"}), "std::vector grows")
        self.assertEqual(owner({"outcome": {"matches": matches}}), "a | b")
        self.assertEqual(owner({"outcome": "error", "matches": matches}), "a | b")
        self.assertEqual(owner({"outcome": "pending"}), "")

    def test_closing(self) -> None:
        """A code, that there was none, an error, or nothing while it is open."""
        self.assertEqual(closing({"close": {"code": 1001}}), "1001")
        self.assertEqual(closing({"close": {"wasClean": False}}), "yes")
        self.assertEqual(closing({"errorCode": "claim_timeout"}), "claim_timeout")
        self.assertEqual(closing({}), "")
