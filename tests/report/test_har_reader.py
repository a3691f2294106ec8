"""Any HAR becomes a page."""

import json
import os
import zipfile
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from twisted.trial.unittest import SynchronousTestCase

from tests.report.har_samples import ENTRY, FAILED, REAL, SOCKET
from tests.report.test_run_document import SCHEMA
from tests.server.rest.test_openapi import SPEC
from trafficmock.errors import LocalError
from trafficmock.redaction.redacted_documents import redacted_record
from trafficmock.redaction.redactor import Redactor
from trafficmock.report import har_reader
from trafficmock.report.foreign_files import Room
from trafficmock.report.har_reader import har_document, read_har

_keys = ["log", "entries", "creator", "name", "request", "response", "url", "headers", "status"]
_keys += ["content", "text", "encoding", "_webSocketMessages", "time", "startedDateTime", "_file"]
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("base64"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_keys), inner),
    max_leaves=20,
)


def none(name: str) -> bytes:
    raise FileNotFoundError(name)


class HarReaderTests(SynchronousTestCase):
    """What its entries become."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp())
        self.directory.mkdir()

    def read(self, *entries: object, name: str = "a.har") -> dict[str, Any]:
        path = self.directory / name
        path.write_text(
            json.dumps({"log": {"creator": {"name": "WebInspector"}, "entries": entries}})
        )
        return read_har(path)

    def test_request(self) -> None:
        """A request has its headers, bodies and times."""
        document = self.read(ENTRY)
        (entry,) = document["unowned"]["requests"]
        self.assertEqual((document["har"], entry["clientId"]), ("a.har", "WebInspector"))
        self.assertEqual((entry["timestamp"], entry["durationMs"]), (1795608000000, 13))
        self.assertEqual(entry["request"]["headers"], {"accept": "a, b"})
        self.assertEqual(entry["request"]["bodyBase64"], b64encode(b"sent").decode())
        self.assertEqual(entry["outcome"]["response"]["bodyBase64"], "AAEC")

    def test_without_response(self) -> None:
        """A request without a response says why."""
        (entry,) = self.read(FAILED)["unowned"]["requests"]
        self.assertNotIn("response", entry["outcome"])
        self.assertEqual(entry["events"][-1]["detail"], "net::ERR_CONNECTION_REFUSED")

    def test_socket(self) -> None:
        """A WebSocket has its messages, newest first."""
        (socket,) = self.read(SOCKET)["unowned"]["webSockets"]
        frames = [(each["direction"], each.get("data")) for each in socket["events"]]
        self.assertEqual(frames, [("server", "AAE="), ("client", "hello"), ("system", None)])

    def test_archive(self) -> None:
        """Bodies may be in files, beside it or in its archive, but nowhere else."""
        entry = json.loads(json.dumps(ENTRY))
        entry["response"]["content"] = {"size": 4, "_file": "body.bin"}
        path = self.directory / "a.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("har.har", json.dumps({"log": {"entries": [entry]}}))
            archive.writestr("body.bin", b"body")
        (packed,) = read_har(path)["unowned"]["requests"]
        (self.directory / "body.bin").write_bytes(b"body")
        (beside,) = self.read(entry)["unowned"]["requests"]
        for found in (packed, beside):
            body = found["outcome"]["response"]["bodyBase64"]
            self.assertEqual(body, b64encode(b"body").decode())
        (self.directory.parent / "secret").write_bytes(b"secret")
        entry["response"]["content"]["_file"] = "../secret"
        (left,) = self.read(entry)["unowned"]["requests"]
        response = left["outcome"]["response"]
        self.assertEqual((response["bodyBase64"], response["truncated"]), (None, True))

    def test_real(self) -> None:
        """HARs of Chromium and mitmproxy have all of their requests, bodies and failures."""
        self.assertEqual(sorted(REAL), ["chromium", "mitmproxy"])
        for name, path in REAL.items():
            with self.subTest(name):
                document = read_har(path)
                Draft202012Validator(SCHEMA).validate(document)
                requests = {
                    each["request"]["url"].partition("?")[0].rpartition("/")[2]: each
                    for each in document["unowned"]["requests"]
                }
                self.assertLessEqual({"items", "gone", "pixel.png"}, set(requests))
                asked = json.loads(b64decode(requests["items"]["request"]["bodyBase64"]))
                self.assertEqual(asked["q"], "tea")
                answer = requests["items"]["outcome"]["response"]
                self.assertEqual(answer["status"], 200)
                self.assertEqual(json.loads(b64decode(answer["bodyBase64"]))["items"], ["teapot"])
                picture = requests["pixel.png"]["outcome"]["response"]["bodyBase64"]
                self.assertTrue(b64decode(picture).startswith(b"\x89PNG"))
                self.assertNotIn("response", requests["gone"]["outcome"])
                self.assertTrue(requests["gone"]["events"][-1]["detail"])
                self.assertGreater(requests["items"]["timestamp"], 1_700_000_000_000)
                marked = json.dumps(redacted_record(document, Redactor()))
                found = redacted_record(requests["items"], Redactor())
                bodies = found["request"], found["outcome"]["response"]
                for text in (marked, *(b64decode(each["bodyBase64"]).decode() for each in bodies)):
                    self.assertNotIn("tok-zq7Xw2Lk9", text)

    def test_wrong(self) -> None:
        """What is no HAR is named, and so is what is missing or too large."""
        path = self.directory / "a.har"
        for content in (b"", b"[]", b"\xff", b'{"log":{}}', b"[" * 100000):
            path.write_bytes(content)
            error = self.assertRaises(LocalError, read_har, path)
            self.assertIn("a.har is no HAR", str(error))
        error = self.assertRaises(LocalError, read_har, self.directory / "none.har")
        self.assertIn("none.har cannot be read: No such file", str(error))
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("other", "")
        self.assertIn("no archive with a HAR", str(self.assertRaises(LocalError, read_har, path)))
        self.patch(har_reader, "Room", lambda name: Room(name, 10))
        self.assertIn("too many for a page", str(self.assertRaises(LocalError, read_har, path)))

    def test_each_use(self) -> None:
        """A body counts each time that an entry names it, in an archive and beside the HAR."""
        body = bytes(2000)
        content = {"size": 1, "mimeType": "a/b", "_file": "body.bin"}
        uses = [{**ENTRY, "response": {"status": 200, "content": content}}] * 10
        har = json.dumps({"log": {"entries": uses}}).encode()
        archive, beside = self.directory / "a.zip", self.directory / "a.har"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("har.har", har)
            file.writestr("body.bin", body)
        beside.write_bytes(har)
        (self.directory / "body.bin").write_bytes(body)
        for path in (archive, beside):
            self.assertEqual(len(read_har(path)["unowned"]["requests"]), 10)
            self.patch(har_reader, "Room", lambda name: Room(name, 15_000))
            error = self.assertRaises(LocalError, read_har, path)
            self.assertIn("counts for each", str(error))
            self.patch(har_reader, "Room", Room)
        self.patch(har_reader, "MOST_HAR_ENTRIES", 9)
        self.assertIn("9 entries", str(self.assertRaises(LocalError, read_har, archive)))

    def test_no_files(self) -> None:
        """A pipe, a device and a link are not read, and no archive that is damaged."""
        pipe, path = self.directory / "pipe", self.directory / "a.har"
        os.mkfifo(pipe)
        for named in (pipe, Path("/dev/zero")):
            error = self.assertRaises(LocalError, read_har, named)
            self.assertIn("is no regular file", str(error))
        secret = self.directory / "secret"
        secret.write_text("abcdef")
        (self.directory / "link").symlink_to("secret")
        (self.directory / "inner").symlink_to(".")
        for name in ("link", "inner/secret", "../secret", str(secret)):
            response = {"status": 200, "content": {"_file": name}}
            har = {"log": {"entries": [{**ENTRY, "response": response}]}}
            path.write_text(json.dumps(har))
            outcome = read_har(path)["unowned"]["requests"][0]["outcome"]
            self.assertIsNone(outcome["response"]["bodyBase64"], name)
        path.write_text(path.read_text().replace(str(secret), "pipe"))
        self.assertIn("pipe is no regular", str(self.assertRaises(LocalError, read_har, path)))
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("har.har", json.dumps({"log": {"entries": [], "x": "a" * 999}}))
        content = bytearray(path.read_bytes())
        content[45:55] = b"\xff" * 10
        path.write_bytes(content)
        self.assertRaises(LocalError, read_har, path)

    @given(_json)
    def test_anything(self, value: object) -> None:
        """Whatever JSON it is becomes a document as published, or an error."""
        for har in (value, {"log": {"entries": [value, {**ENTRY, "response": value}]}}):
            try:
                document = har_document(har, "a.har", none)
            except LocalError:
                continue
            Draft202012Validator(SCHEMA).validate(document)

    def test_records(self) -> None:
        """The entries have what OpenAPI says of those of the REST API, but for the decision."""
        document = self.read(ENTRY, FAILED)["unowned"]["requests"]
        wanted = SPEC["components"]["schemas"]["HttpEntry"]["required"]
        for entry in document:
            self.assertLessEqual(set(wanted), set(entry))
