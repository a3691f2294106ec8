"""Order, lookup and retention."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import NO_QUERY, OWNER, fill, ids, request, response
from trafficmock import records
from trafficmock.history.query import Query
from trafficmock.history.store import History

MIB = 1024 * 1024


class OrderTests(SynchronousTestCase):
    """Which entries a reader gets, and in which order."""

    def test_newest_first(self) -> None:
        """Entries stand newest first."""
        history = History()
        fill(history, "a", "b", "c")
        self.assertEqual(ids(history), ["c", "b", "a"])

    def test_same_id_again(self) -> None:
        """An id that comes again replaces its row and is the newest."""
        history = History()
        fill(history, "a", "b")
        history.record(records.RequestSeen("a", "other", request()), 50)
        entry = history.requests.get("a")
        assert entry is not None
        self.assertEqual((ids(history), entry.client_id), (["a", "b"], "other"))

    def test_page(self) -> None:
        """Offset and limit cut the list after the filters."""
        history = History()
        fill(history, *"abcdef")
        page = history.requests.query(Query(offset=1, limit=2, to=3))
        self.assertEqual([entry.id for entry in page], ["c", "b"])

    def test_no_more_than_asked(self) -> None:
        """A limit of 0 gives an empty list."""
        history = History()
        fill(history, "a")
        self.assertEqual(list(history.requests.query(Query(limit=0))), [])

    def test_changes_while_reading(self) -> None:
        """A reader that pauses passes over entries that go meanwhile, and is not disturbed."""
        history = History(http_limit=200)
        fill(history, *map(str, range(200)))
        reader = history.requests.query(NO_QUERY)
        first = [entry.id for entry in islice(reader, 50)]
        fill(history, *(f"new{number}" for number in range(100)))
        rest = [entry.id for entry in reader]
        self.assertEqual(first + rest, [str(number) for number in range(199, 99, -1)])

    def test_small_steps(self) -> None:
        """A long list without a hit gives way many times."""
        history = History()
        fill(history, *map(str, range(1000)))
        steps = list(history.requests.slices(Query(client_id="nobody")))
        self.assertEqual(steps, [[]] * len(steps))
        self.assertGreater(len(steps), 10)


class RetentionTests(SynchronousTestCase):
    """What goes when there is too much."""

    def test_oldest_settled_goes(self) -> None:
        """Over the limit the oldest settled entry goes, not an older pending one."""
        history = History(http_limit=3)
        history.record(records.RequestSeen("pending", "app", request()), 0)
        fill(history, "a", "b", "c")
        self.assertEqual(ids(history), ["c", "b", "pending"])

    def test_age_counts_not_the_decision(self) -> None:
        """The oldest settled entry is the one observed first, not the one settled first."""
        history = History(http_limit=2)
        history.record(records.RequestSeen("old", "app", request()), 0)
        fill(history, "young")
        history.record(records.RequestFulfilled("old", OWNER, response()), 5)
        fill(history, "new")
        self.assertEqual(ids(history), ["new", "young"])

    def test_all_pending(self) -> None:
        """When all are pending the oldest goes, and late news of it is harmless."""
        history = History(http_limit=2)
        for name in "abc":
            history.record(records.RequestSeen(name, "app", request(content=b"body")), 0)
        self.assertEqual(ids(history), ["c", "b"])
        history.record(records.RequestFulfilled("a", OWNER, response(content=b"x")), 5)
        self.assertEqual(history.requests.budget.used, 2 * len(b"body"))

    def test_hidden_take_no_place(self) -> None:
        """With ``handled``, pending requests displace none that are shown, but are bounded."""
        history = History(capture="handled", http_limit=2)
        for name in "ab":
            history.record(records.RequestSeen(name, "app", request()), 0)
            history.record(records.RequestFulfilled(name, OWNER, response()), 0)
        for name in "vwxyz":
            history.record(records.RequestSeen(name, "app", request()), 0)
        self.assertEqual((ids(history), len(history.requests)), (["b", "a"], 2))
        for name in "vwxyz":
            history.record(records.RequestFulfilled(name, OWNER, response()), 0)
        self.assertEqual(ids(history), ["z", "y"])
        self.assertEqual(history.requests.dropped, 5)

    def test_evicted_bytes_are_freed(self) -> None:
        """An entry that goes gives its bytes back."""
        history = History(http_limit=1)
        for name in "abc":
            history.record(records.RequestSeen(name, "app", request(content=b"body")), 0)
        self.assertEqual(history.requests.budget.used, len(b"body"))
        self.assertEqual(history.requests.dropped, 2)

    def test_heavy_heads(self) -> None:
        """Heads are bounded as well: entries go when URLs and headers pass 16 MiB."""
        history = History()
        for name in "abcde":
            history.record(
                records.RequestSeen(name, "app", request("http://x/" + "u" * 5 * MIB)), 0
            )
        self.assertEqual(ids(history), ["e", "d", "c"])

    def test_too_heavy_head(self) -> None:
        """An entry that could not stay by itself displaces no other."""
        history = History()
        fill(history, "a")
        huge = request(headers={"h": "v" * 17 * MIB})
        history.record(records.RequestSeen("huge", "app", huge), 0)
        self.assertEqual(ids(history), ["a"])
        history.record(records.RequestSeen("grown", "app", request()), 0)
        mock = response(headers={"h": "v" * 17 * MIB}, content=b"x")
        history.record(records.RequestFulfilled("grown", OWNER, mock), 1)
        self.assertEqual((ids(history), history.requests.budget.used), (["a"], 0))

    def test_replaced_rows_leave_nothing(self) -> None:
        """The same id over and over takes no more memory than once."""
        history = History()
        fill(history, *["same"] * 1000)
        self.assertLess(len(history.requests._settled), 50)


class RevisionTests(SynchronousTestCase):
    """Numbers that tell a reader whether anything has changed."""

    def test_every_change_counts(self) -> None:
        """Each change gives the rows and the entry a number that was never used before."""
        history = History()
        seen = {history.requests.revision}
        history.record(records.RequestSeen("a", "app", request()), 0)
        entry = history.requests.get("a")
        assert entry is not None
        for change in (
            lambda: history.record(records.RequestContinued("a", OWNER, None), 1),
            lambda: history.record(records.ResponseReported("a", response(302), None), 2),
            lambda: history.record(
                records.HopSeen("b", "app", request(), "a", "continue", OWNER), 3
            ),
        ):
            before = entry.revision
            change()
            self.assertNotIn(history.requests.revision, seen)
            self.assertGreater(entry.revision, before)
            seen.add(history.requests.revision)

    def test_reading_changes_nothing(self) -> None:
        """Reading leaves the revision as it is."""
        history = History()
        fill(history, "a")
        before = history.requests.revision
        for entry in history.requests.query(Query(q="shop")):
            entry.to_json(), entry.summary_json()
        self.assertEqual(history.requests.revision, before)


class RemovalTests(SynchronousTestCase):
    """What is gone, for readers that keep a list of their own."""

    def test_removed(self) -> None:
        """The ids that went after a revision are told in order, also those that came back."""
        history = History(http_limit=2)
        fill(history, "a", "b")
        before = history.requests.revision
        fill(history, "c", "d", "d")
        self.assertEqual(history.requests.removed_after(before), ["a", "b", "d"])
        self.assertEqual(history.requests.removed_after(history.requests.revision), [])

    def test_unknown(self) -> None:
        """A revision that never was, or is too long ago, gives no list rather than a wrong one."""
        history = History(http_limit=1)
        rows = history.requests
        fill(history, "a", "b")
        self.assertIsNone(rows.removed_after(rows.revision + 1))
        self.assertIsNone(rows.removed_after(-1))
        self.assertEqual(rows.removed_after(0), ["a"])
        fill(history, *map(str, range(10_001)))
        self.assertIsNone(rows.removed_after(0))
        self.assertEqual(len(rows.removed_after(rows.revision - 1) or []), 0)

    def test_long_ids(self) -> None:
        """An id that is too long to be noted ends the notes, and readers get whole lists."""
        history = History(http_limit=1)
        rows = history.requests
        fill(history, "a", "i" * 201, "b")
        self.assertIsNone(rows.removed_after(0))
        self.assertEqual(rows.removed_after(rows.revision), [])

    def test_hidden(self) -> None:
        """What was never shown is not told of."""
        history = History(capture="handled", http_limit=1)
        history.record(records.RequestSeen("a", "app", request()), 0)
        history.record(records.RequestPassedThrough("a"), 1)
        self.assertEqual(history.requests.removed_after(0), [])

    @given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), max_size=40), st.data())
    def test_mirror(self, steps: list[tuple[str, bool]], data: st.DataObject) -> None:
        """Whoever applies what went and what changed, from any moment on, has the list itself."""
        history = History(http_limit=3)
        rows = history.requests
        mirrors: list[tuple[int, dict[str, bytes]]] = [(0, {})]
        for name, settles in steps:
            if settles:
                history.record(records.RequestPassedThrough(name), 1)
            else:
                history.record(records.RequestSeen(name, "app", request()), 0)
            shown = {entry.id: entry.summary_json() for entry in rows.query(NO_QUERY)}
            mirrors.append((rows.revision, shown))
        revision, mirror = data.draw(st.sampled_from(mirrors))
        for name in rows.removed_after(revision) or []:
            mirror.pop(name, None)
        changed = rows.query(Query(after=revision))
        mirror |= {entry.id: entry.summary_json() for entry in changed}
        self.assertEqual(mirror, {entry.id: entry.summary_json() for entry in rows.query(NO_QUERY)})
