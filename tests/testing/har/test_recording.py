"""A HAR that was recorded can be replayed, by trafficmock and by Playwright."""

import gzip
import json
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.redaction.test_redactor import SECRETS
from tests.support.hypothesis_profiles import profile
from tests.testing import runs
from tests.testing.fakes import request, response
from trafficmock.core.effects import WriteRecording
from trafficmock.core.har.har_lookup import HarLookup
from trafficmock.core.har.match_rules import HarQuestion
from trafficmock.core.state.har_recording import Exchange
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.reports import written_recordings
from trafficmock.server.reports.slow_work import SlowWork
from trafficmock.testing.errors import UsageError
from trafficmock.testing.har.har_entries import har_entries
from trafficmock.testing.har.har_file import HarFile
from trafficmock.testing.har.har_routes import HarOptions
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.texts.named_fields import OFF
from trafficmock.wire.inbound import RecordingQuery
from trafficmock.wire.outbound import RecordingPiece
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Fulfill
from trafficmock.wire.payloads.serialized_har import (
    Content,
    SerializedHar,
    SerializedRecording,
    UpdateMode,
)

URL = "http://shop.test/teapots?size=2"


def pieces_of(*exchanges: Exchange, **options: Any) -> list[Any]:
    """Have a recording written; give what its steps yield."""
    query = RecordingQuery("q", "t", "r")
    effect = WriteRecording("w", query, SerializedRecording(**options), exchanges)
    return list(written_recordings.recording_steps(effect, Redactor()))


def written(*exchanges: Exchange, **options: Any) -> tuple[list[Any], dict[str, bytes]]:
    """Have a recording written; give its entries, and the files of their bodies."""
    files: dict[str, bytes] = {}
    for piece in pieces_of(*exchanges, **options):
        if isinstance(piece, RecordingPiece):
            name = piece.file or ""
            files[name] = files.get(name, b"") + body.to_bytes(piece.body_base64)
    return json.loads(files.pop("")), files


def lookup_of(entries: list[Any], files: dict[str, bytes]) -> HarLookup:
    """Make the lookup of a route with a HAR."""
    store: Any = SimpleNamespace(entries=lambda: entries, read=files.__getitem__)
    return HarLookup.of(SerializedHar("some.har", har_entries(store, make_matcher("**"))))


def answer_to(lookup: HarLookup, question: HarQuestion) -> Any:
    """Give the response that was recorded for a request."""
    found = lookup.find(question)
    assert found is not None
    assert isinstance(found.answer, Fulfill)
    return found.answer.response


class ReplayTests(SynchronousTestCase):
    """What comes out is what went in."""

    @profile(50)
    @example("embed", "full", b"", b"authorization:\0")
    @given(
        st.sampled_from(get_args(Content)),
        st.sampled_from(get_args(UpdateMode)),
        st.binary(max_size=50),
        st.binary(max_size=50),
    )
    def test_any_body(self, content: Any, mode: Any, sent: bytes, answered: bytes) -> None:
        """Whatever bytes were sent and answered, they are found again.

        Without redaction, since ``authorization:`` with anything behind it is a secret.
        """
        exchange = Exchange(request(URL, "POST", sent), response(200, answered), 0, 5)
        lookup = lookup_of(*written(exchange, content=content, mode=mode, redact=[OFF]))
        found = answer_to(lookup, HarQuestion(URL, "POST", [], sent))
        self.assertEqual(body.to_bytes(found.body_base64), answered)

    def test_coded(self) -> None:
        """A body in a coding that the proxy does not decode is replayed with the header for it."""
        answer = response(200, b"\x8b\x00\x80\xff\x03", **{"content-encoding": "br"})
        for content in get_args(Content):
            entries, files = written(Exchange(request(URL), answer, 0, 5), content=content)
            # Other programs keep the header, too, but decode the body.
            for is_ours in (True, False):
                if not is_ours:
                    del entries[0]["response"]["content"]["_coding"]
                lookup = lookup_of(entries, files)
                found = answer_to(lookup, HarQuestion(URL, "GET", [], b""))
                self.assertEqual("content-encoding" in found.headers, is_ours)

    @profile(30)
    @given(SECRETS, st.sampled_from(get_args(Content)), st.sampled_from(["", "gzip"]))
    def test_secrets(self, secret: str, content: Any, coding: str) -> None:
        """No secret is in the HAR or its files, and the same requests are answered."""
        url = f"https://u:{secret}@shop.test/?token={secret}&page=1"
        sent = json.dumps({"password": secret, "user": "ada"}).encode()
        answered = gzip.compress(sent) if coding else sent
        head = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
        asked = request(url, "POST", sent, **head)
        back = {"set-cookie": f"sid={secret}", "content-encoding": coding, **head}
        entries, files = written(
            Exchange(asked, response(200, answered, **back), 0, 5),
            Exchange(asked, f"{url}: refused", 0, 5),
            content=content,
        )
        self.assertNotIn(secret, json.dumps(entries))
        for held in files.values():
            plain = gzip.decompress(held) if held.startswith(b"\x1f\x8b") else held
            self.assertNotIn(secret.encode(), plain)
        other = sent.replace(secret.encode(), b"another")
        answer_to(
            lookup_of(entries, files), HarQuestion(url.replace(secret, "x"), "POST", [], other)
        )

    def test_redact(self) -> None:
        """``redact`` names further fields; ``off`` writes all, and other words are errors."""
        exchange = Exchange(request(URL, "POST", b"{}", cookie="a=secret"), "failed", 0, 5)
        for redact, size, cookie in (
            ([], True, False),
            (["query:size"], False, False),
            (["off"], True, True),
        ):
            with self.subTest(redact):
                text = json.dumps(written(exchange, redact=redact)[0])
                self.assertEqual(("size=2" in text, "a=secret" in text), (size, cookie))
        (refused,) = pieces_of(exchange, redact=["size"])
        self.assertIn("'size' is none of header:NAME", refused.error)
        options = HarOptions(store=HarFile("some.har"), redact="size")
        error = self.assertRaises(UsageError, options.words_to_redact)
        self.assertIn("'size' is none of header:NAME", str(error))

    def test_by_playwright(self) -> None:
        """Chromium shows the recorded page, from a file and from an archive."""
        paths = []
        for name, content in (("some.har", "embed"), ("some.zip", "attach")):
            path = Path(self.mktemp()).resolve() / name
            answer = response(200, b"<p>recorded", **{"content-type": "text/html"})
            entries, files = written(Exchange(request(URL), answer, 0, 5), content=content)
            HarFile(path).save(entries, files)
            self.assertEqual(zipfile.is_zipfile(path), name == "some.zip")
            paths.append(str(path))
        output = runs.run("tests.testing.samples.browser_replays", URL, *paths, environment={})
        self.assertEqual(output, "<p>recorded\n<p>recorded\n")


class PieceTests(SynchronousTestCase):
    """A recording is handed over in pieces."""

    def test_dropped(self) -> None:
        """One that was dropped is its error alone."""
        query = RecordingQuery("q", "t", "r")
        effect = WriteRecording("w", query, SerializedRecording(), (), "no room")
        (piece,) = written_recordings.recording_steps(effect, Redactor())
        assert isinstance(piece, RecordingPiece)
        self.assertEqual((piece.done, piece.error), (True, "no room"))

    def test_large(self) -> None:
        """Large files come in several pieces, of at most the size; a large body takes a thread."""
        self.patch(written_recordings, "PIECE_BYTES", 100)
        sent, answered = b"a" * 70, b"b" * 20_000
        exchange = Exchange(request(URL, "POST", sent), response(200, answered), 0, 5)
        for content, count in (("attach", 3), ("embed", 1)):
            yielded = pieces_of(exchange, exchange, content=content)
            pieces = [each for each in yielded if isinstance(each, RecordingPiece)]
            sizes = [body.size(each.body_base64) for each in pieces]
            self.assertLessEqual(max(sizes), 100)
            self.assertEqual([each.done for each in pieces if each.done is not UNSET], [True])
            self.assertTrue(pieces[-1].done)
            self.assertEqual(len({each.file for each in pieces}), count)
            slow = [each for each in yielded if isinstance(each, SlowWork)]
            self.assertEqual((len(slow), yielded.count(None)), (2, 2))
            entries, files = written(exchange, exchange, content=content)
            self.assertEqual(len(entries), 2)
            self.assertEqual(len(files), count - 1)

    def test_nothing(self) -> None:
        """A route that met no request has no entries."""
        self.assertEqual(written(), ([], {}))
