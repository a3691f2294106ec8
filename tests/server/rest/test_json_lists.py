"""Lists as chunks: always sound JSON, however the entries come."""

import json

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.http_client import record
from trafficmock.history.store import History
from trafficmock.server.rest.json_lists import listed, records, summaries, wrapped

HISTORY = History()
for _n in range(100):
    record(HISTORY, str(_n))


class ListingTests(SynchronousTestCase):
    """Lists and entries."""

    @given(st.lists(st.lists(st.integers(0, 99), max_size=70), max_size=5))
    def test_batches(self, batches: list[list[int]]) -> None:
        """All entries of all batches are there in order; an empty batch gives an empty chunk."""
        wanted = [str(n) for batch in batches for n in batch]
        for show in (records, summaries):
            found = ([HISTORY.requests.get(str(n)) for n in batch] for batch in batches)
            chunks = list(listed("entries", found, show))
            rows = json.loads(b"".join(chunks))["entries"]
            self.assertEqual([row["id"] for row in rows], wanted)
            if show is summaries:
                self.assertEqual(chunks.count(b""), batches.count([]))

    def test_wrapped(self) -> None:
        """One entry stands under its name."""
        entry = HISTORY.requests.get("5")
        assert entry is not None
        body = b"".join(wrapped("entry", entry))
        self.assertEqual(json.loads(body), {"entry": json.loads(entry.to_json())})
