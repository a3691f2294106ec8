"""The files of a report that a worker has made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.report.records import begin, end, test
from trafficmock.report.report_directory import write_report
from trafficmock.server.reports import made_reports
from trafficmock.server.reports.made_reports import making_steps
from trafficmock.server.reports.slow_work import SlowWork
from trafficmock.wire.inbound import ReportMake
from trafficmock.wire.outbound import RecordingPiece
from trafficmock.wire.payloads import body


class MakingTests(SynchronousTestCase):
    """``report:make``."""

    def setUp(self) -> None:
        self.known: dict[str, bytearray] = {}
        self.directory = Path(self.mktemp())
        (self.directory / "data").mkdir(parents=True)

    def data(self, files: Mapping[str, Sequence[object]]) -> bytes:
        """Write data files, and give their lines as a worker sends them."""
        sent = b""
        for name, records in files.items():
            path = self.directory / "data" / name
            lines = b"".join(json.dumps(record).encode() + b"\n" for record in records)
            path.write_bytes(lines)
            sent += json.dumps({"file": str(path)}).encode() + b"\n" + lines
        return sent

    def made(self, sent: bytes, part: int = 100, query_id: str = "q") -> tuple[Any, str]:
        """Send data in parts, and give the files and the error."""
        starts = range(0, len(sent), part)
        for start in starts:
            piece = body.from_bytes(sent[start : start + part])
            (told,) = making_steps(ReportMake(query_id, piece, more=True), self.known)
            assert isinstance(told, RecordingPiece)
            if told.error:
                return {}, told.error
        work, *found, last = making_steps(ReportMake(query_id, body.NULL), self.known)
        assert isinstance(work, SlowWork)
        assert isinstance(last, RecordingPiece)
        self.assertEqual((last.done, self.known), (True, {}))
        files: dict[str, bytes] = {}
        for each in found:
            assert isinstance(each, RecordingPiece)
            files[str(each.file)] = files.get(str(each.file), b"") + body.to_bytes(each.body_base64)
        return files, last.error or ""

    def test_without_file(self) -> None:
        """Records of no file are not left out in silence."""
        files, error = self.made(json.dumps(begin("a")).encode())
        self.assertEqual(files, {})
        self.assertIn("no line with the path of its file", error)

    def test_same(self) -> None:
        """They are those that a test side in Python writes of the same files."""
        run = {
            "a.jsonl": [begin("a"), test("é", 2), end()],
            "b.jsonl": [begin("b", 2), test("two", 3)],
        }
        sent = self.data(run) + b'{"type": "te'
        files, error = self.made(sent)
        write_report(self.directory)
        names = ("run.json", "index.html")
        written = {name: (self.directory / name).read_bytes() for name in names}
        self.assertEqual((files, error), (written, ""))

    def test_foreign(self) -> None:
        """Data of another version is refused, by the name of its file."""
        for records, where in (
            ([begin("a"), {"type": "test", "test": {"id": "t"}}], "data/a.jsonl"),
            ([{"type": "begin"}, test("one")], "data"),
        ):
            files, error = self.made(self.data({"a.jsonl": records}))
            self.assertEqual(files, {})
            text = f"{self.directory / where} has data of another version of trafficmock"
            self.assertTrue(error.startswith(text), error)

    def test_too_much(self) -> None:
        """A report may not fill the memory of the service, and nothing of it is kept."""
        self.patch(made_reports, "MOST_BYTES", 1000)
        sent = self.data({"a.jsonl": [begin("a"), *[test(f"t{number}") for number in range(9)]]})
        self.assertIn("the data of the report has more than", self.made(sent)[1])
        self.assertEqual(self.known, {})
