"""A secret is found whatever stands around it: shapes, brackets, other texts before and behind."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

from hypothesis import example, given
from hypothesis import strategies as st
from twisted.logger import capturedLogs, eventAsText
from twisted.trial.unittest import SynchronousTestCase

from tests.redaction import shapes
from tests.redaction.samples import KEY
from tests.redaction.shapes import keyed, shaped
from tests.redaction.test_known_secrets import exported, outputs, recorded, within
from tests.support.hypothesis_profiles import DEEP
from trafficmock import records
from trafficmock.history.store import History
from trafficmock.redaction.places.markup_secrets import MarkupSecrets
from trafficmock.redaction.places.named_values import NamedValues
from trafficmock.redaction.places.text_lines import redacted_events, redacted_lines
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.event_log import EventLog
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

REDACTOR = Redactor(key=KEY)
SECRET = "S3cretXyz12Abc9"
WAYS: dict[str, Callable[[str], str]] = {
    "text": REDACTOR.text,
    "frame": REDACTOR.frame_text,
    "body": lambda text: REDACTOR.body(text.encode("utf-8", "surrogatepass")).decode(
        "utf-8", "surrogatepass"
    ),
    "JSON": lambda text: REDACTOR.body(
        text.encode("utf-8", "surrogatepass"), "application/json"
    ).decode("utf-8", "surrogatepass"),
}
TYPES = ("text/plain", "application/json", "application/octet-stream", "text/html", "")

NAMES = ("password", "otp", "apiKey", "client_secret", "pin", "sid")
LONG_NAMES = ("password", "apiKey", "client_secret", "access_token")
SPACED_NAMES = ("api key", "card number", "session id", "access key", "auth code", "pass word")

BRACKETS = ("[]", "{}", "()", '""', "''", "<>", "``")


def of_names() -> Iterator[tuple[str, str]]:
    """Yield the shapes with each name, and what they are."""
    for table, names in (
        (shapes.SHAPES, NAMES),
        (shapes.LONG_SHAPES, LONG_NAMES),
        (shapes.SPACED_SHAPES, SPACED_NAMES),
    ):
        for label, shape in table.items():
            for name in names:
                yield f"{label}, {name}", shaped(shape, name, SECRET)


def of_keys() -> Iterator[tuple[str, str]]:
    """Yield the shapes with each key of known form, and what they are."""
    for form in shapes.KEYS:
        for label, shape in shapes.KEY_SHAPES.items():
            yield f"{form}, {label}", shape.format(s=keyed(form, SECRET))


ALL = [*of_names(), *of_keys()]
LEADING = [text for label, text in ALL if not label.startswith(tuple(shapes.LONG_SHAPES))]
"""Those that do not have to begin a line."""


class ShapeTests(SynchronousTestCase):
    """No secret stays."""

    def _check(self, label: str, text: str) -> None:
        for way, redact in WAYS.items():
            shown = redact(text)
            for each in within(shown):
                if SECRET in each or SECRET.encode().hex() in each:
                    self.fail(f"{way}: {label}: {text!r} becomes {shown!r}")
            self.assertEqual(redact(shown), shown, (way, label))

    def test_alone(self) -> None:
        """By its name in each shape, and by its form."""
        self.assertGreater(len(shapes.SHAPES) + len(shapes.LONG_SHAPES), 60)
        for label, text in ALL:
            self._check(label, text)

    def test_in_brackets(self) -> None:
        """Brackets and quotes around a text change no mark."""
        for text in LEADING[:: 1 if DEEP else 5]:
            for pair in BRACKETS:
                before, after = pair[0], pair[1]
                self._check(before, f"{before}{text}{after}")

    @given(st.sampled_from(ALL), st.text(), st.text())
    @example(ALL[0], '{"', "")
    @example(ALL[0], "<a b='", "")
    @example(ALL[0], '"', '"')
    @example(ALL[0], "password=[", "]")
    def test_in_other_texts(self, shape: tuple[str, str], before: str, after: str) -> None:
        """Nor do lines before and behind it."""
        self._check(shape[0], f"{before}\n{shape[1]}\n{after}")

    @given(st.sampled_from(ALL), st.sampled_from(ALL))
    @example(("", '{"a":[{"pin":"1'), ("", f'{{"credentialDetails":{{"value":"{SECRET}"}}}}'))
    @example(("", '{"a":["'), ("", f'[{{"value":"{SECRET}","name":"password"}}]'))
    def test_in_each_other(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        """Nor another shape, nor JSON around both."""
        both = f"{one[1]}\n{other[1]}"
        self._check(f"{one[0]} and {other[0]}", both)
        for text in shapes.nested(one[1]):
            self._check(one[0], text)

    def test_outputs(self) -> None:
        """In the REST API, pages, HARs, reports, recordings, exports and the log."""
        for start in range(20 if DEEP else 1):
            self._check_outputs([text for _, text in ALL[start::20]])

    def _check_outputs(self, texts: list[str]) -> None:
        history = History()
        log = EventLog(debug=True, redactor=REDACTOR)
        found: list[records.Record] = []
        for number, text in enumerate(texts):
            found += _traffic(number, text)
        with capturedLogs() as said:
            for at, record in enumerate(found, 1000):
                if type(record) in history.writers:
                    history.record(record, at)
                log.recorded(record)
        made: list[object] = [*found]
        shown = [*map(eventAsText, said), *outputs(history), *exported(made), *recorded(made)]
        for text in shown:
            for each in within(text):
                at = each.find(SECRET)
                if at >= 0:
                    self.fail(f"{each[max(0, at - 200) : at + 100]!r}")


def _traffic(number: int, text: str) -> Iterator[records.Record]:
    """Yield a request, an answer, a failure and a frame that have a text."""
    kind = TYPES[number % len(TYPES)]
    content = body.from_bytes(text.encode())
    head = {"x-note": text.partition("\n")[0], **({"content-type": kind} if kind else {})}
    asked = SerializedRequest("https://h.test/", "POST", head, content)
    answer = SerializedResponse(200, "OK", headers=head, body_base64=content)
    yield records.RequestSeen(f"r{number}", "shop", asked)
    yield records.RequestPassedThrough(f"r{number}")
    yield records.ResponseReported(f"r{number}", answer, None)
    yield records.RequestSeen(f"f{number}", "shop", asked)
    yield records.RequestFailed(f"f{number}", None, "no_decision", text, None)
    yield records.SocketSeen(f"s{number}", "shop", "https://h.test/", ["bearer", SECRET])
    yield records.SocketPassedThrough(f"s{number}")
    yield records.SocketActivity(f"s{number}", "client", "frame", None, text, None)


class PlaceTests(SynchronousTestCase):
    """What is no shape of a text: URLs, header lines, parts, and documents around them."""

    def test_urls(self) -> None:
        """Fragments with a path, nested queries without a scheme, names in brackets, webhooks."""
        for url in (
            *("https://h.test/#!code={}", "https://h.test/#/cb?code={}", "/?next=/cb?code={}"),
            *("/?user[pin]={}", "/?user%5Bpin%5D={}", "/?code[]={}", "/?key[]={}", "/?api+key={}"),
            *("/?card[number]={}", "/?token%3D{}", "/?ghp_{0}{0}", "/cb?a=1;pin={}"),
            "https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/{}",
            "http://127.0.0.1:80/bot12345678:{}/sendMessage",
            "/api/webhooks/123456789012345678/{}",
        ):
            text = url.format(SECRET)
            for shown in (REDACTOR.url(text), REDACTOR.text(f"GET {text} failed")):
                self.assertNotIn(SECRET, shown)
            self.assertEqual(REDACTOR.url(REDACTOR.url(text)), REDACTOR.url(text))

    def test_headers(self) -> None:
        """Joined cookies, and subprotocols after a scheme."""
        for name, value in (
            ("set-cookie", "a=1; Path=/, sid={}"),
            ("set-cookie", "a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT, b={}; Secure, c={}"),
            ("sec-websocket-protocol", "bearer, {}"),
            ("sec-websocket-protocol", "v1, base64url.bearer.authorization.k8s.io.{}"),
            ("x-api-key", "{}"),
        ):
            shown = REDACTOR.header(name, value.replace("{}", SECRET))
            self.assertNotIn(SECRET, shown)
            self.assertEqual(REDACTOR.header(name, shown), shown)
        plain = "graphql-transport-ws, v12.stomp"
        self.assertEqual(REDACTOR.header("sec-websocket-protocol", plain), plain)
        cookie = "a=; Expires=Wed, 09 Jun 2027 10:18:14 GMT; Path=/"
        self.assertEqual(REDACTOR.header("set-cookie", cookie), cookie)

    def test_parts(self) -> None:
        """The name, file name and header lines of a part, and requests of a batch."""
        for head, content in (
            ('Content-Disposition: form-data; name="ghp_{0}{0}"', "a"),
            ('Content-Disposition: form-data; name="f"; filename="token={0}.txt"', "a"),
            ("Content-Type: text/plain\r\nAuthorization: Bearer {0}", "a"),
            ("Content-Type: application/http", "POST /x?code={0} HTTP/1.1\r\nAuthorization: {0} a"),
            ('Content-Disposition: form-data; name="pin"', "{0}"),
        ):
            text = f"--b\r\n{head}\r\n\r\n{content}\r\n--b--\r\n".format(SECRET)
            for kind in ("multipart/form-data; boundary=b", "", "application/octet-stream"):
                shown = REDACTOR.body(text.encode(), kind).decode()
                self.assertNotIn(SECRET, shown)
                self.assertEqual(REDACTOR.body(shown.encode(), kind).decode(), shown)

    def test_forms(self) -> None:
        """A form whose content type is missing or wrong."""
        for kind in ("", "application/octet-stream", "text/plain", "application/json"):
            shown = REDACTOR.body(f"user=ada&code={SECRET}&user[pin]={SECRET}".encode(), kind)
            self.assertNotIn(SECRET.encode(), shown)
            self.assertIn(b"user=ada", shown)

    def test_kept(self) -> None:
        """Ordinary texts stay as they are."""
        for text in (
            *("max_tokens: 12", "token_type: bearer", '{"tokens": 12}', "the token is valid"),
            *("Pass: 12, fail: 3", "pass=12 fail=3", "a pin in a map, a code of conduct"),
            *("<password></password>", "use <token> here", "code=200", "key: value"),
            *('{"passwordPolicy": {"min": 8}}', "--token TOKEN", "--password-file a"),
            *("class Token:\n    def read(self) -> None: ...", '["password", "email", "name"]'),
            *('<a href="/password-reset">Forgot your password?</a>', "a possessing idea: none"),
            *('<label for="pin">Number</label>', '{"required": ["password"]}'),
            *('{"name": "user", "value": "ada"}', "- name: TOKEN_URL\n  value: a"),
            '<li value="2">token</li><token type="bearer"/>',
        ):
            for redact in (WAYS["text"], WAYS["JSON"]):
                self.assertEqual(redact(text), text)

    def test_details(self) -> None:
        """Of an object whose name says something about a secret, values stay that are none."""
        text = '{"passwordDetails": {"value": "S", "strength": "high"}}'
        self.assertIn('"strength": "high"', REDACTOR.text(text))
        self.assertNotIn('"S"', REDACTOR.text(text))

    @given(
        st.lists(st.sampled_from([*"<>/a='\" ![CDAT]\n:{}", "token", "key", "data:"])).map("".join)
    )
    @example("<token>a</token")
    def test_any_markup(self, text: str) -> None:
        """Any text can be read as one with tags, as lines, and as pairs."""
        for redact in (
            MarkupSecrets(REDACTOR.mark).redacted,
            NamedValues(REDACTOR.mark).redacted,
            lambda each: redacted_lines(each, REDACTOR.mark),
            lambda each: redacted_events(each, REDACTOR.text),
        ):
            self.assertEqual(redact(redact(text)), redact(text))


class HostileTests(SynchronousTestCase):
    """The time is linear, whatever is repeated."""

    def test_linear(self) -> None:
        """Openings without ends, names without values, and shapes one after the other."""
        pieces = [
            *("token=[", "token={a ", "token:{", "password:\n ", "password: |\n a\n", "<token>"),
            *(
                "<token a='",
                "<![CDATA[",
                "<input name=token value=",
                "--token ",
                "?pin=",
                "data:\n",
            ),
            *('token="""', "api key: ", '\\"', '{"name":"token","value":"', '[["token",', "{", "["),
            *(
                "\n- token:\n  ",
                "set-cookie: a=b, ",
                "card number 1234 ",
                "eyJaaaaaa..a.",
                "&quot;",
            ),
            *("-----BEGIN PRIVATE KEY-----", "set-", "[redacted:12345678]", "<key>token</key>"),
            *("otp='a',", "/services/T0ABCDEF1/", "x: $", "authorization: a\n"),
        ]
        for piece in pieces:
            for before in ("", '{"variables":"'):
                took = []
                for size in (8_000, 1_000_000 if DEEP else 64_000):
                    text = before + (piece * size)[:size]
                    began = time.process_time()
                    for redact in (REDACTOR.text, REDACTOR.url, WAYS["body"]):
                        redact(text)
                    took.append(time.process_time() - began)
                self.assertLess(took[1], (200 if DEEP else 20) * took[0] + 1, piece)

    def test_json(self) -> None:
        """Values in JSON are written as JSON, also beneath a name."""
        text = json.dumps({"credentials": {"n": 1, "ok": True, "list": ["a", 2]}})
        json.loads(REDACTOR.text(text))
        shown = REDACTOR.text(f"42{text}")
        self.assertEqual(json.loads(shown.removeprefix("42"))["credentials"]["ok"], True)
