"""Secrets in what REST gives out as a file, and in entries on demand."""

from twisted.trial.unittest import SynchronousTestCase

from tests.support.http_client import OWNER, Service
from trafficmock import records
from trafficmock.redaction.redactor import Redactor
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

SECRET = "s3cr3ts3cr3t"


def service(redactor: Redactor | None = None) -> Service:
    """Make a service with a request, its response, and a WebSocket that have a secret."""
    made = Service(redactor=redactor or Redactor())
    head = {"authorization": f"Bearer {SECRET}", "x-customer": "zorro"}
    content = body.from_bytes(f'{{"password": "{SECRET}"}}'.encode())
    url = f"http://h.test/?token={SECRET}"
    made.history.record(
        records.RequestSeen("a", "shop", SerializedRequest(url, "POST", head, content)), 1
    )
    answer = SerializedResponse(200, "OK", {"set-cookie": f"sid={SECRET}"}, content)
    made.history.record(records.RequestFulfilled("a", OWNER, answer), 2)
    made.history.record(records.SocketSeen("s", "shop", url, []), 1)
    return made


class RestTests(SynchronousTestCase):
    """``redact`` of the REST API."""

    def test_har(self) -> None:
        """A HAR is redacted by default; ``redact`` adds fields or switches off."""
        made = service()
        for query, has_secret, has_customer in (
            ("", False, True),
            ("?redact=on", False, True),
            ("?redact=header:x-customer", False, False),
            ("?redact=off", True, True),
        ):
            text = made.ask(f"/api/history/a/har{query}").body.decode()
            self.assertEqual((SECRET in text, "zorro" in text), (has_secret, has_customer), query)

    def test_entries(self) -> None:
        """Entries are exact by default, and redacted on demand, with an entity tag of their own."""
        made = service()
        for path in ("/api/history/a", "/api/ws/s"):
            plain, redacted = made.ask(path), made.ask(f"{path}?redact=on")
            self.assertIn(SECRET, plain.body.decode())
            self.assertNotIn(SECRET, redacted.body.decode())
            self.assertNotEqual(plain.headers["etag"], redacted.headers["etag"])
            again = made.ask(f"{path}?redact=on", if_none_match=redacted.headers["etag"])
            self.assertEqual((again.status, again.body), (304, b""))
            self.assertEqual(made.ask(f"{path}?redact=off").body, plain.body)
        self.assertIn(SECRET, made.ask("/api/history").body.decode())

    def test_service(self) -> None:
        """Fields of the service hold for all; what it switches off stays so unless asked for."""
        added = service(Redactor.of(["header:x-customer"]))
        self.assertNotIn("zorro", added.ask("/api/history/a/har").body.decode())
        self.assertNotIn("zorro", added.ask("/api/history/a?redact=on").body.decode())
        off = service(Redactor.of("off"))
        self.assertIn(SECRET, off.ask("/api/history/a/har").body.decode())
        self.assertNotIn(SECRET, off.ask("/api/history/a/har?redact=on").body.decode())

    def test_wrong(self) -> None:
        """A value that is none says which there are."""
        made = service()
        for path in ("/api/history/a/har", "/api/history/a", "/api/ws/s"):
            for value in ("x", "header:", "regex:%28", "off&redact=on&redact=json:a"):
                answer = made.ask(f"{path}?redact={value}")
                self.assertEqual(answer.status, 400, value)
                self.assertIn("redact: ", answer.json()["message"])

    def test_description(self) -> None:
        """Other programs get the fields and the key, and so make the same marks."""
        made = service(Redactor.of(["header:x-customer"]))
        described = made.ask("/api/redaction").json()
        self.assertEqual(described["fields"], ["header:x-customer"])
        other = Redactor.described_by(described)
        har = made.ask("/api/history/a/har").body.decode()
        self.assertIn(other.mark(SECRET), har)
        self.assertIn(other.mark("zorro"), har)
        off = service(Redactor.of("off")).ask("/api/redaction").json()
        self.assertTrue(Redactor.described_by(off).is_off)
