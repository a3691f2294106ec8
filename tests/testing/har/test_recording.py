"""A HAR that was recorded can be replayed, by trafficmock and by Playwright."""

import gzip
import json
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.redaction.test_redactor import SECRETS
from tests.support.hypothesis_profiles import profile
from tests.testing import runs
from tests.testing.fakes import request, response
from trafficmock.core.har.har_lookup import HarAnswer, HarLookup
from trafficmock.core.har.match_rules import HarQuestion
from trafficmock.redaction.redactor import Redactor
from trafficmock.testing.errors import UsageError
from trafficmock.testing.har.har_entries import har_entries
from trafficmock.testing.har.har_file import HarFile
from trafficmock.testing.har.har_recording import Content, HarRecording, UpdateMode
from trafficmock.testing.har.har_routes import HarOptions
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.testing.session.observation.request_state import RequestState, ResponseState
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_har import SerializedHar

URL = "http://shop.test/teapots?size=2"


def recorded(content: Any, mode: Any, sent: bytes, answered: bytes) -> HarRecording:
    """Record one request with a body, and its answer."""
    asked = RequestState("r", "app", request(URL, "POST", sent), 1)
    recording = HarRecording("1", content, mode)
    recording.add(asked, ResponseState(asked, response(200, answered)), 0, 5)
    return recording


class ReplayTests(SynchronousTestCase):
    """What comes out is what went in."""

    @profile(50)
    @given(
        st.sampled_from(get_args(Content)),
        st.sampled_from(get_args(UpdateMode)),
        st.binary(max_size=50),
        st.binary(max_size=50),
    )
    def test_any_body(self, content: Any, mode: Any, sent: bytes, answered: bytes) -> None:
        """Whatever bytes were sent and answered, they are found again."""
        recording = recorded(content, mode, sent, answered)
        entries = json.loads(json.dumps(recording.document()))["log"]["entries"]
        recorded_files = SimpleNamespace(entries=lambda: entries, read=recording.files.__getitem__)
        lookup = HarLookup.of(
            SerializedHar("some.har", har_entries(recorded_files, make_matcher("**")))
        )
        found = lookup.find(HarQuestion(URL, "POST", [], sent))
        assert found is not None
        assert isinstance(found.outcome, HarAnswer)
        self.assertEqual(body.to_bytes(found.outcome.response.body_base64), answered)

    def test_coded(self) -> None:
        """A body in a coding that the proxy does not decode is replayed with the header for it."""
        for content in get_args(Content):
            recording = HarRecording("1", content)
            asked = RequestState("r", "app", request(URL), 1)
            answer = response(200, b"\x8b\x00\x80\xff\x03", **{"content-encoding": "br"})
            recording.add(asked, ResponseState(asked, answer), 0, 5)
            entries = json.loads(json.dumps(recording.document()))["log"]["entries"]
            # Other programs keep the header, too, but decode the body.
            for is_ours in (True, False):
                if not is_ours:
                    del entries[0]["response"]["content"]["_coding"]
                files = SimpleNamespace(
                    entries=lambda found=entries: found, read=recording.files.__getitem__
                )
                har = SerializedHar("some.har", har_entries(files, make_matcher("**")))
                found = HarLookup.of(har).find(HarQuestion(URL, "GET", [], b""))
                assert found is not None
                assert isinstance(found.outcome, HarAnswer)
                self.assertEqual("content-encoding" in found.outcome.response.headers, is_ours)

    @profile(30)
    @given(SECRETS, st.sampled_from(get_args(Content)), st.sampled_from(["", "gzip"]))
    def test_secrets(self, secret: str, content: Any, coding: str) -> None:
        """No secret is in the HAR or its files, and the same requests are answered."""
        url = f"https://u:{secret}@shop.test/?token={secret}&page=1"
        sent = json.dumps({"password": secret, "user": "ada"}).encode()
        answered = gzip.compress(sent) if coding else sent
        head = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
        asked = RequestState("r", "app", request(url, "POST", sent, **head), 1)
        back = {"set-cookie": f"sid={secret}", "content-encoding": coding, **head}
        recording = HarRecording("1", content)
        recording.add(asked, ResponseState(asked, response(200, answered, **back)), 0, 5)
        recording.add(asked, f"{url}: refused", 0, 5)
        written = json.dumps(recording.document())
        self.assertNotIn(secret, written)
        for held in recording.files.values():
            plain = gzip.decompress(held) if held.startswith(b"\x1f\x8b") else held
            self.assertNotIn(secret.encode(), plain)
        entries = json.loads(written)["log"]["entries"]
        files = SimpleNamespace(entries=lambda: entries, read=recording.files.__getitem__)
        har = SerializedHar("some.har", har_entries(files, make_matcher("**")))
        other = sent.replace(secret.encode(), b"another")
        found = HarLookup.of(har).find(HarQuestion(url.replace(secret, "x"), "POST", [], other))
        assert found is not None
        self.assertIsInstance(found.outcome, HarAnswer)

    def test_redact(self) -> None:
        """``redact`` names further fields; ``off`` writes all, and other words are errors."""
        asked = RequestState("r", "app", request(URL, "POST", b"{}", cookie="a=secret"), 1)
        for redact, size, cookie in ((None, True, False), ("query:size", False, False)):
            with self.subTest(redact):
                recording = HarRecording("1", redactor=Redactor.of(redact))
                recording.add(asked, "failed", 0, 5)
                text = json.dumps(recording.document())
                self.assertEqual(("size=2" in text, "a=secret" in text), (size, cookie))
        options = HarOptions(store=HarFile("some.har"), redact="off")
        self.assertTrue(options.redactor().is_off)
        error = self.assertRaises(
            UsageError, HarOptions(store=HarFile("some.har"), redact="size").redactor
        )
        self.assertIn("'size' is none of header:NAME", str(error))

    def test_by_playwright(self) -> None:
        """Chromium shows the recorded page, from a file and from an archive."""
        ways: tuple[tuple[str, Content], ...] = (("some.har", "embed"), ("some.zip", "attach"))
        paths = []
        for name, content in ways:
            path = Path(self.mktemp()).resolve() / name
            asked = RequestState("r", "app", request(URL), 1)
            answer = response(200, b"<p>recorded", **{"content-type": "text/html"})
            recording = HarRecording("1", content)
            recording.add(asked, ResponseState(asked, answer), 0, 5)
            HarFile(path).save(recording.document(), recording.files)
            self.assertEqual(zipfile.is_zipfile(path), name == "some.zip")
            paths.append(str(path))
        output = runs.run("tests.testing.samples.browser_replays", URL, *paths, environment={})
        self.assertEqual(output, "<p>recorded\n<p>recorded\n")
