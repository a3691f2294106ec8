"""Secrets are replaced, wherever they stand, and the rest stays as it was."""

import base64
import gzip
import json
import re
import time
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from hypothesis import example, given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.redaction.samples import KEY, samples, wanted
from trafficmock.redaction import body_codings
from trafficmock.redaction.redactor import Redactor

REDACTOR = Redactor(key=KEY)

SECRETS = st.text(
    st.sampled_from("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789"), min_size=12, max_size=40
).filter(lambda text: not text.isalpha())
"""Secrets that no text has by chance: none is a word."""

NAMES = st.sampled_from(
    [
        *("password", "token", "access_token", "apiKey", "API-Key", "client_secret", "pin"),
        *("x-auth-token", "sessionId", "refreshToken", "authorization", "private_key"),
    ]
)


OPTIONAL = [
    coding for coding in ("gzip", "deflate", "br", "zstd") if body_codings.can_decode(coding)
]
"""The codings that can be decoded: two need packages."""


def decodable() -> list[dict[str, Any]]:
    """Read the samples but those in codings whose packages are missing, which are optional."""
    return [each for each in samples() if body_codings.can_decode(each.get("coding", "gzip"))]


def redacted(sample: dict[str, Any]) -> str:
    redactor = Redactor.of(sample.get("added"), KEY)
    given_text = sample["given"]
    if sample["what"] == "header":
        return redactor.header(sample["name"], given_text)
    if sample["what"] == "body":
        codings = body_codings.codings_of(sample.get("coding"))
        content = body_codings.encode(given_text.encode(), codings)
        new = redactor.body(content, sample["type"], sample.get("coding"))
        return (body_codings.decode(new, codings) or b"").decode()
    return redactor.url(given_text) if sample["what"] == "url" else redactor.text(given_text)


class SampleTests(SynchronousTestCase):
    """Single texts."""

    def test_samples(self) -> None:
        """Each becomes what its sample says."""
        for sample in decodable():
            with self.subTest(**sample):
                self.assertEqual(redacted(sample), wanted(sample["wanted"]))

    def test_twice(self) -> None:
        """What is redacted stays as it is."""
        for sample in decodable():
            with self.subTest(**sample):
                once = redacted(sample)
                self.assertEqual(redacted({**sample, "given": once}), once)

    def test_marks(self) -> None:
        """Equal secrets have one mark, others and those of another key have others."""
        text = REDACTOR.text("token=abc password=abc secret=abd")
        marks = re.findall(r"\[redacted:\w+\]", text)
        self.assertEqual(marks[0], marks[1])
        self.assertNotEqual(marks[0], marks[2])
        self.assertNotEqual(Redactor().text("token=abc"), Redactor().text("token=abc"))

    def test_bearer(self) -> None:
        """A word after "bearer" stays as sentences write it; in another case it is redacted."""
        self.assertEqual(
            REDACTOR.text("a bearer token, Bearer Token."), "a bearer token, Bearer Token."
        )
        self.assertNotIn("AuthoriZAtion", REDACTOR.text("Bearer AuthoriZAtion"))

    def test_binary(self) -> None:
        """Bytes that are no text stay, but for what is known to be a key by its form."""
        content = b"\x00\xff\x80 token=abc sk_live_abcdefgh12\xfe"
        new = REDACTOR.body(content, "application/octet-stream")
        self.assertEqual(new.partition(b"[")[0], b"\x00\xff\x80 token=abc ")
        self.assertTrue(new.endswith(b"\xfe"))
        self.assertNotIn(b"sk_live", new)

    def test_many_members(self) -> None:
        """A body of many members of gzip, as a log that is appended to has, is read to its end."""
        content = gzip.compress(b"") * 20_000 + gzip.compress(b"token=abc")
        new = gzip.decompress(REDACTOR.body(content, "text/plain", "gzip"))
        self.assertRegex(new, rb"^token=\[redacted:\w{8}\]$")

    def test_damaged_coding(self) -> None:
        """A body that cannot be decoded is replaced as a whole, unless it is in no coding."""
        text = b"token=abc\tde\r\n" * 4000
        beginning = gzip.compress(text * 100)[:3000]
        for content, coding in (
            (b"\x1f\x8b" + bytes(20), "gzip"),
            (beginning[:2000] + b"\xff" * 1000, "gzip"),
            (gzip.compress(text)[::-1], "compress"),
            (gzip.compress(gzip.compress(text)[::-1]), "deflate, gzip"),
        ):
            with self.subTest(coding=coding):
                new = REDACTOR.body(content, "text/plain", coding)
                self.assertRegex(new[:20], rb"^\[redacted:\w{8}\]$")
        for coding in ("gzip", "deflate", "br", "zstd", "unknown"):
            new = REDACTOR.body(text, "text/plain", coding)
            self.assertNotIn(b"abc", new)
            self.assertIn(b"\tde", new)
        image = bytes(range(256))
        self.assertEqual(REDACTOR.body(image, "image/png", "unknown"), image)
        noise = b"\xff\xfe\0\1 sk_live_abcdefgh12 "
        self.assertIn(b"[redacted:", REDACTOR.body(noise, "application/x", "deflate"))

    def test_cut(self) -> None:
        """Of a coded body that is cut off, the beginning is read."""
        text = f"token=abcdef\n{Random(1).randbytes(300_000).hex()}".encode()  # noqa: S311 - noise
        for coding in OPTIONAL:
            content = body_codings.encode(text, [coding])
            new = REDACTOR.body(content[: len(content) // 2], "text/plain", coding)
            plain = body_codings.decode(new, [coding]) or b""
            self.assertEqual(plain[:16], b"token=[redacted:")
            self.assertGreater(len(plain), 1000)
            new = REDACTOR.body(content[:70], "text/plain", coding)
            self.assertNotIn(b"abcdef", body_codings.decode(new, [coding]) or new)

    def test_bomb(self) -> None:
        """A body that becomes too large when it is decoded is replaced as a whole."""
        self.patch(body_codings, "MOST_DECODED", 1000)
        for coding in OPTIONAL:
            content = body_codings.encode(b"token=abc" * 1000, [coding])
            new = REDACTOR.body(content, "text/plain", coding)
            self.assertRegex(new, rb"^\[redacted:\w{8}\]$")

    def test_off(self) -> None:
        """What is switched off returns everything as it came."""
        off = Redactor.of("off")
        self.assertEqual(off.headers([("cookie", "a=b")]), [("cookie", "a=b")])
        self.assertEqual(off.url("http://u:p@h/?token=a"), "http://u:p@h/?token=a")
        self.assertEqual(off.text("token=a"), "token=a")
        self.assertEqual(off.body(b"token=a"), b"token=a")
        self.assertEqual((off.mark("a"), off.parameter("token", "a")), ("a", "a"))
        self.assertEqual((off.cookie("a"), off.frame_text("token=a")), ("a", "token=a"))


class AddingTests(SynchronousTestCase):
    """Further fields, of a query or a recording, for a redactor that the service has."""

    TEXT = "authorization: Basic dTpw"

    def test_nothing(self) -> None:
        """Without fields it stays as it is, also one that is off."""
        self.assertEqual(Redactor.of("off").adding([]).text(self.TEXT), self.TEXT)
        self.assertNotIn("dTpw", Redactor().adding([]).text(self.TEXT))

    def test_words(self) -> None:
        """Fields turn on one that is off, and ``off`` turns off one that is on."""
        self.assertNotIn("dTpw", Redactor.of("off").adding(["on"]).text(self.TEXT))
        self.assertEqual(Redactor().adding(["off"]).text(self.TEXT), self.TEXT)


class EverywhereTests(SynchronousTestCase):
    """A known secret is found wherever it stands."""

    @given(SECRETS, NAMES)
    def test_headers(self, secret: str, name: str) -> None:
        """In credentials, cookies, named headers, and URLs in headers."""
        basic = base64.b64encode(f"u:{secret}".encode()).decode()
        pairs = [
            ("Authorization", f"Bearer {secret}"),
            ("authorization", secret),
            ("Proxy-Authorization", f"Basic {basic}"),
            ("cookie", f"theme=x; sid={secret}"),
            ("Set-Cookie", f"sid={secret}; Path=/; Secure"),
            (name, secret),
            ("location", f"/cb?{name}={secret}"),
            ("referer", f"https://u:{secret}@h.test/"),
            ("x-forwarded", f"Bearer {secret}"),
            ("x-key", f"sk_live_{secret}"),
            ("link", f"<https://h.test/?{name}={secret}>; rel=next"),
        ]
        shown = REDACTOR.headers(pairs)
        self.assertNotIn(secret, repr(shown))
        self.assertNotIn(basic, repr(shown))
        self.assertEqual([each for each, _ in shown], [each for each, _ in pairs])
        self.assertEqual(REDACTOR.headers(shown), shown)

    @given(SECRETS, st.characters(min_codepoint=0x80))
    @example("abcdefgh1234", "é")
    @example("abcdefgh1234", "\udc80")
    def test_after_any_character(self, secret: str, before: str) -> None:
        """A key that stands right after a character of several bytes."""
        for text in (f"{before}sk_live_{secret}", f"http://h.test/{before}sk_live_{secret}"):
            for shown in (REDACTOR.text(text), REDACTOR.url(text)):
                self.assertNotIn(secret, shown)
                self.assertIn(before, shown)

    @given(st.text(max_size=20))
    @example("aé漢😀b\ud800")
    def test_parts_of_characters(self, text: str) -> None:
        """A pattern of a user that matches a part of a character replaces all of it."""
        self.assertTrue(Redactor.of(["regex:[\\x80-\\xff]"], KEY).text(text).isascii())
        self.assertIsInstance(Redactor.of(["regex:..."], KEY).text(text), str)

    @given(SECRETS, NAMES, st.text(max_size=10))
    def test_urls(self, secret: str, name: str, other: str) -> None:
        """In user information, queries, fragments, paths and nested URLs."""
        plain = f"http://h.test/p?{urlencode({'q': other, name: secret})}"
        for url in (
            plain,
            f"//{secret}@h.test/",
            f"https://u:{secret}@h.test/a?b=c",
            f"https://h.test/#{name}={secret}&x=1",
            f"https://h.test/?next={quote(plain, safe='')}",
            f"https://h.test/hooks/sk_live_{secret}",
            f"/p?{name}={secret}",
        ):
            shown = REDACTOR.url(url)
            self.assertNotIn(secret, shown)
            self.assertEqual(REDACTOR.url(shown), shown)
            if "://" in url:
                self.assertNotIn(secret, REDACTOR.text(f"{url}: it does not answer"))

    @given(SECRETS, NAMES, st.text(max_size=10))
    @example("abcdefghijkl", "pin", "\ud800\\\"'")
    def test_bodies(self, secret: str, name: str, other: str) -> None:
        """In forms, JSON of any depth, multipart, event streams and texts, coded or not."""
        document = {"o": other, "deep": [{name: {"value": [secret, other]}}], "n": 1}
        text = json.dumps(document)
        bodies = {
            "application/json": text,
            "application/json; charset=utf-8": json.dumps({"inner": text}),
            "application/x-ndjson": f"{text}\n{text}",
            "text/plain": f"see https://u:{secret}@h.test, bearer {secret}",
            "text/event-stream": f"data: {text}\n\n",
            "application/x-www-form-urlencoded": urlencode(
                {"o": other, name: secret}, errors="replace"
            ),
            "multipart/form-data; boundary=b": f"--b\r\nContent-Disposition: form-data; "
            f'name="{name}"\r\n\r\n{secret}\r\n--b--\r\n',
            "text/xml": f"<a><api-key>{secret}</api-key></a>",
            "application/vnd.x+json": json.dumps(
                {"data": base64.b64encode(text.encode()).decode()}
            ),
            "": json.dumps([other, {name: secret}]),
        }
        for kind, body in bodies.items():
            for codings in ([], *([each] for each in OPTIONAL), ["deflate", "gzip"]):
                coding = ", ".join(codings)
                content = body.encode("utf-8", "surrogatepass")
                new = REDACTOR.body(body_codings.encode(content, codings), kind, coding)
                plain = body_codings.decode(new, codings)
                assert plain is not None
                self.assertNotIn(secret.encode(), plain)
                self.assertNotIn(secret[:9].encode(), _within(plain))
                self.assertEqual(REDACTOR.body(new, kind, coding), new)
                if "json" in kind and "nd" not in kind:
                    json.loads(plain)

    @given(st.text(), st.sampled_from(["", "text/plain", "application/json", "text/event-stream"]))
    def test_any_text(self, text: str, kind: str) -> None:
        """Any text can be read, and twice as well as once."""
        once = REDACTOR.body(text.encode("utf-8", "surrogatepass"), kind)
        self.assertEqual(REDACTOR.body(once, kind), once)
        shown = REDACTOR.text(text)
        self.assertEqual(REDACTOR.text(shown), shown)
        self.assertIsInstance(REDACTOR.url(text), str)
        self.assertIsInstance(REDACTOR.header("cookie", text), str)

    @given(st.binary(), st.sampled_from(["", "multipart/form-data; boundary=a", "text/plain"]))
    def test_any_bytes(self, content: bytes, kind: str) -> None:
        """Any bytes can be read."""
        self.assertIsInstance(REDACTOR.body(content, kind, "gzip"), bytes)
        self.assertIsInstance(REDACTOR.frame(content), bytes)

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=10,
        )
    )
    def test_other_json(self, value: object) -> None:
        """JSON stays JSON, and without secrets it stays as it was."""
        text = json.dumps(value)
        new = REDACTOR.body(text.encode(), "application/json").decode()
        if "[redacted:" not in new:
            self.assertEqual(new, text)
        elif text[0] in "[{":
            json.loads(new)


class TimeTests(SynchronousTestCase):
    """The time is linear in the text, whatever it is."""

    def test_linear(self) -> None:
        """A megabyte of what would make a regular expression go back takes seconds at most."""
        size = 200_000
        for piece in (
            *("a", "{", '[{"a":', '"\\', "eyJ", "sk-", "token", "token.", "token ", "http://"),
            *("bearer ", "-----BEGIN ", "data: ", "=", "%25", '{"a":"', "token='", "a&", "--b\r\n"),
        ):
            for kind in ("application/json", "text/plain", "multipart/form-data; boundary=b"):
                content = (piece * (size // len(piece))).encode()
                began = time.process_time()
                REDACTOR.body(content, kind)
                REDACTOR.text(f"password{content.decode()}")
                self.assertLess(time.process_time() - began, 5, (piece, kind))


def _within(content: bytes) -> bytes:
    """Return what base64 in a body has."""
    found = re.findall(rb"[A-Za-z0-9+/=]{40,}", content)
    return b"".join(base64.b64decode(each + b"==") for each in found if len(each) % 4 == 0)
