"""The parts of recorded requests that conditions look at."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.history.request_entry import RequestEntry
from trafficmock.history.stored_bodies import Body, awaited
from trafficmock.matching.request_conditions import compile_condition
from trafficmock.server.recorded_content import recorded_content
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest

REQUEST = SerializedRequest("http://h.test/?a=1", "POST", {"X-Key": "1"}, body.NULL)


def entry(kept: Body | None) -> RequestEntry:
    return RequestEntry(
        id="1",
        timestamp=0,
        client_id="app",
        request=REQUEST,
        request_body=kept,
        on_change=lambda _: None,
    )


class ContentTests(SynchronousTestCase):
    """Headers, the query and the body of an entry."""

    def test_whole(self) -> None:
        """All parts are there."""
        asked = recorded_content(entry(Body(b'{"a": 2}', is_text=False)))
        self.assertEqual(asked.values("json", ["a"]), [2])
        self.assertEqual(asked.values("query", ["a"]), ["1"])
        self.assertEqual(asked.values("header", ["x-key"]), ["1"])

    def test_not_whole(self) -> None:
        """A body that is cut, or still arrives, is not compared."""
        wanted = compile_condition("json", ["a"])
        cut = Body(b"{", 99, "cut", is_text=False)
        for kept in (cut, awaited()):
            text = wanted.difference(recorded_content(entry(kept)))
            self.assertEqual(text, "json.a: the history does not have the whole body")
        self.assertIn("no body", str(wanted.difference(recorded_content(entry(None)))))
