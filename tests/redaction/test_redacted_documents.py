"""HARs and entries without secrets."""

import base64
import json

from hypothesis import given
from twisted.trial.unittest import SynchronousTestCase

from tests.redaction.samples import KEY
from tests.redaction.test_redactor import NAMES, SECRETS
from trafficmock.redaction.redacted_documents import redacted_har, redacted_record
from trafficmock.redaction.redactor import Redactor

REDACTOR = Redactor(key=KEY)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


class DocumentTests(SynchronousTestCase):
    """A secret is found in each part of a document."""

    def test_names(self) -> None:
        """The name of a parameter may be a secret, or have one; so may a file name."""
        key = f"ghp_{'a1' * 12}"
        request = {
            "url": f"https://h.test/?{key}",
            "queryString": [{"name": key, "value": ""}, {"name": "token=abcde12345", "value": ""}],
            "postData": {"params": [{"name": "f", "fileName": f"{key}.txt"}]},
        }
        shown = json.dumps(redacted_har({"log": {"entries": [{"request": request}]}}, REDACTOR))
        self.assertNotIn(key, shown)
        self.assertNotIn("abcde12345", shown)
        sockets = {"protocols": ["bearer", "abcde12345"]}
        self.assertNotIn("abcde12345", str(redacted_record(sockets, REDACTOR)))

    @given(SECRETS, NAMES)
    def test_har(self, secret: str, name: str) -> None:
        """In URLs, headers, cookies, queries, bodies, frames and texts of failures."""
        pair = [{"name": name, "value": secret}]
        url = f"https://u:{secret}@h.test/?{name}={secret}"
        body = json.dumps({name: secret})
        har = {
            "log": {
                "version": "1.2",
                "pages": [{"title": url, "id": "p1", "pageTimings": {}}],
                "entries": [
                    {
                        "startedDateTime": "2026-01-01T00:00:00.000Z",
                        "time": 3,
                        "request": {
                            "method": "POST",
                            "url": url,
                            "headers": pair,
                            "cookies": [{"name": "theme", "value": secret}],
                            "queryString": pair,
                            "postData": {
                                "mimeType": "application/json",
                                "text": body,
                                "params": pair,
                            },
                        },
                        "response": {
                            "status": 200,
                            "headers": pair,
                            "cookies": [{"name": "sid", "value": secret}],
                            "content": {
                                "size": len(body),
                                "mimeType": "application/json",
                                "text": _base64(body),
                                "encoding": "base64",
                            },
                            "_trailers": pair,
                            "redirectURL": url,
                            "_failureText": f"{url}: refused",
                        },
                        "_webSocketMessages": [
                            {"type": "send", "time": 1, "opcode": 1, "data": body},
                            {"type": "receive", "time": 1, "opcode": 2, "data": _base64(body)},
                        ],
                    }
                ],
            }
        }
        shown = redacted_har(har, REDACTOR)
        self._check(shown, secret, body)
        self.assertEqual(redacted_har(shown, REDACTOR), shown)
        self.assertEqual(shown["log"]["entries"][0]["response"]["content"]["size"], len(body))
        self.assertEqual(redacted_har(har, Redactor.of("off")), har)

    @given(SECRETS, NAMES)
    def test_records(self, secret: str, name: str) -> None:
        """In an entry of the history, whose ids, actions and titles stay."""
        url = f"https://u:{secret}@h.test/?{name}={secret}"
        body = json.dumps({name: secret})
        message = {
            "url": url,
            "method": "POST",
            "headers": {name: secret, "content-type": "application/json"},
            "headersList": [[name, secret], ["content-type", "application/json"]],
            "bodyBase64": _base64(body),
        }
        entry = {
            "id": "password=a",
            "testId": "token=a",
            "title": "the password: wrong",
            "action": "mocked",
            "timestamp": 1,
            "request": message,
            "overrides": {"headers": {name: secret}, "bodyBase64": None},
            "outcome": {"kind": "mocked", "response": message, "message": f"{url} is refused"},
            "events": [
                {"kind": "frame", "data": body},
                {"kind": "frame", "data": _base64(body), "isBase64": True},
                {"kind": "error", "detail": f"Bearer {secret}"},
            ],
        }
        shown = redacted_record(entry, REDACTOR)
        self._check(shown, secret, body)
        for key in ("id", "testId", "title", "action", "timestamp"):
            self.assertEqual(shown[key], entry[key])
        self.assertEqual(redacted_record(shown, REDACTOR), shown)
        self.assertEqual(redacted_record(entry, Redactor.of("off")), entry)

    def _check(self, shown: object, secret: str, body: str) -> None:
        text = json.dumps(shown)
        self.assertNotIn(secret, text)
        self.assertNotIn(_base64(body), text)

    def test_pieces(self) -> None:
        """The pieces of a streamed body have its new size in sum, and their times."""
        text = 'data: {"token": "abc"}\n\ndata: {"page": 1}\n\n'
        content = {"size": len(text), "mimeType": "text/event-stream", "text": text}
        pieces = [{"time": 0, "size": 24}, {"time": 9, "size": len(text) - 24}]
        shown = redacted_har({"content": content, "_pieces": pieces}, REDACTOR)
        sizes = [piece["size"] for piece in shown["_pieces"]]
        self.assertEqual(sum(sizes), len(shown["content"]["text"]))
        self.assertEqual([piece["time"] for piece in shown["_pieces"]], [0, 9])
        plain = {"content": {**content, "text": "data: 1\n\n"}, "_pieces": pieces}
        self.assertEqual(redacted_har(plain, REDACTOR), plain)

    def test_odd(self) -> None:
        """What has another form stays, and is searched all the same."""
        for har in (
            {},
            {"log": None},
            {"log": {"entries": [1, None, {"request": {"headers": [1], "url": 5}}]}},
            {"headers": {"a": 1}, "headersList": []},
        ):
            self.assertEqual(redacted_har(har, REDACTOR), har)
