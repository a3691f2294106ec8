"""The entry of a request: what it gives to others."""

from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import OWNER, request, response
from trafficmock import records
from trafficmock.history.store import History
from trafficmock.history.stored_messages import without_body


class RequestEntryTests(SynchronousTestCase):
    """Heads and bodies apart."""

    def test_without_body(self) -> None:
        """The head of a request keeps all but the bytes of its body."""
        made = request("http://x/", "PUT", content=b"x", headers={"a": "b"}, pairs=[("A", "b")])
        head, body = without_body(made)
        self.assertEqual((head.url, head.method, head.headers), ("http://x/", "PUT", {"a": "b"}))
        self.assertEqual(head.headers_list, [("A", "b")])
        assert body is not None
        self.assertEqual(body.content(), b"x")

    def test_weight(self) -> None:
        """The weight of an entry follows its heads, also when a response is replaced."""
        history = History()
        asked = request("http://x/", "PUT", headers={"ab": "c"})
        history.record(records.RequestSeen("r", "app", asked), 1)
        history.record(records.RequestPassedThrough("r"), 2)
        entry = history.requests.get("r")
        assert entry is not None
        # With its id, of one letter.
        self.assertEqual(entry.weight, 16)
        history.record(
            records.ResponseReported("r", response(200, "OK", headers={"a": "b"}), None), 3
        )
        self.assertEqual(entry.weight, 20)
        history.record(
            records.ResponseReported("r", response(200, "", headers={"a": "b"}), None), 3
        )
        self.assertEqual((entry.weight, history.requests.weight), (18, 18))

    def test_owner(self) -> None:
        """A reader finds the owner and the request of an entry."""
        history = History()
        history.record(records.RequestSeen("r", "app", request()), 1)
        history.record(records.RequestFulfilled("r", OWNER, response()), 2)
        entry = history.requests.get("r")
        assert entry is not None
        self.assertEqual((entry.test_id, entry.client_id), ("test-1", "app"))
        self.assertEqual(entry.request.url, "http://shop.test/pay")

    def test_unread(self) -> None:
        """Stages wait to be written until somebody reads, but never many of them."""
        history = History()
        history.record(records.RequestSeen("r", "app", request()), 1)
        history.record(records.RequestPassedThrough("r"), 2)
        entry = history.requests.get("r")
        assert entry is not None
        self.assertIsNone(entry._record)
        for at in range(100):
            history.record(records.ResponseReported("r", response(), None), at)
            self.assertLessEqual(len(entry.unwritten), 4)
        self.assertEqual((entry.action, entry.status), ("passthrough", 200))
        self.assertEqual(entry.unwritten, [])
