"""Events for a history that does not keep secrets."""

from base64 import b64encode
from typing import Any

from hypothesis import given
from msgspec import structs
from twisted.trial.unittest import SynchronousTestCase

from tests.redaction.samples import KEY
from tests.redaction.test_redactor import NAMES, SECRETS
from trafficmock import records
from trafficmock.history.query import Query
from trafficmock.history.rest_records import encode
from trafficmock.history.store import History
from trafficmock.redaction.redactor import Redactor
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse

OWNER = records.Owner("T1", "R1", "sells", "test_shop.py")


class HistoryTests(SynchronousTestCase):
    """With a redactor, a history has no secret anywhere."""

    @given(SECRETS, NAMES)
    def test_all_events(self, secret: str, name: str) -> None:
        """In no part of an entry, whatever brought it."""
        history = History(redactor=Redactor(key=KEY))
        url = f"https://u:{secret}@h.test/?{name}={secret}"
        content = f'{{"{name}": "{secret}"}}'.encode()
        held = body.from_bytes(content)
        kind = "application/json"
        head = {name: secret, "cookie": f"sid={secret}", "content-type": kind}
        lines = list(head.items())
        request = SerializedRequest(url, "POST", head, held, lines)
        response = SerializedResponse(200, "OK", head, held, url, lines)
        said = f"{url}: Bearer {secret}"
        for event in (
            records.RequestSeen(
                "a", "shop", structs.replace(request, body_base64=body.NULL), body_pending=True
            ),
            records.RequestBodyCame("a", request),
            records.RequestContinued(
                "a", OWNER, SerializedOverrides(url, "PUT", head, held, lines)
            ),
            records.ResponseReported("a", response, SerializedError("Error", said)),
            records.RequestSeen("b", "shop", request),
            records.RequestFulfilled("b", OWNER, response, body_pending=True),
            records.StreamPieceSent("b", 3),
            records.StreamEnded("b", response, said),
            records.RequestSeen("c", "shop", request),
            records.RequestAborted("c", OWNER, "failed", said),
            records.RequestSeen("d", "shop", request),
            records.RequestFailed("d", OWNER, "ambiguous_match", said, None),
            records.HopSeen("e", "shop", request, "a", "continue", OWNER),
            records.SocketSeen("s", "shop", url, []),
            records.SocketOwned("s", OWNER),
            records.SocketActivity("s", "client", "frame", None, content.decode(), is_base64=False),
            records.SocketActivity(
                "s", "server", "frame", None, b64encode(content).decode(), is_base64=True
            ),
            records.SocketActivity("s", "system", "handler", "close", None, None),
            records.SocketClosed("s", "page", 1000, said, was_clean=True),
        ):
            history.record(event, 1)
        rows: list[Any] = [*history.requests.query(Query()), *history.sockets.query(Query())]
        self.assertEqual(len(rows), 6)
        for entry in rows:
            written = b"".join(entry.chunks())
            self.assertNotIn(secret.encode(), written)
            self.assertNotIn(b64encode(content), written)
            self.assertNotIn(secret, repr(encode(entry.record)))

    def test_without(self) -> None:
        """Without one, it keeps what came."""
        history = History()
        request = SerializedRequest("http://h.test/?token=a", "GET", {"cookie": "a=b"}, body.NULL)
        history.record(records.RequestSeen("a", "shop", request), 1)
        (entry,) = history.requests.query(Query())
        self.assertEqual(entry.record.request.headers, {"cookie": "a=b"})
