"""``trafficmock har check``: the entries that no test of a run has used."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.report.records import begin, end, har
from tests.support.processes.proxy_process import REPOSITORY
from trafficmock.report.data_files import DataFile
from trafficmock.report.report_directory import merge_reports, write_report

URLS = ("http://h.test/1", "http://h.test/2?token=sekret", "http://h.test/\x1b]0;3")


class HarCheckTests(SynchronousTestCase):
    """The command, in the directory where the tests ran."""

    def setUp(self) -> None:
        self.base = Path(self.mktemp()).resolve()
        self.base.mkdir()
        self.write("some.har", *URLS)

    def write(self, name: str, *urls: str) -> None:
        """Write a HAR."""
        answer = {"status": 200, "headers": [], "content": {}}
        entries = [{"request": {"method": "GET", "url": url}, "response": answer} for url in urls]
        (self.base / name).write_text(json.dumps({"log": {"entries": entries}}))

    def run_has(self, *records: dict[str, Any], report: str = "report") -> None:
        """Write the data of one process, and the report."""
        directory = self.base / report
        file = DataFile(directory, "pytest-gw0")
        for record in (begin("gw0"), *records):
            file.write(record)
        write_report(directory)

    def check(self, *words: str, **more: str) -> tuple[int, str, str]:
        """Run the command; give its status and what it says."""
        kept = {name: value for name, value in os.environ.items() if name != "TRAFFICMOCK_REPORT"}
        done = subprocess.run(
            [sys.executable, "-m", "trafficmock", "har", "check", *words],
            cwd=self.base,
            env={**kept, "PYTHONPATH": str(REPOSITORY), **more},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stdout, done.stderr

    def test_all_used(self) -> None:
        """Status 0: workers and shards have used all entries between them."""
        self.run_has(har("some.har", 3, 1), end())
        self.run_has(har("some.har", 3, 2), end())
        self.run_has(har(str(self.base / "some.har"), 3, 3), end(), report="other")
        self.assertEqual(self.check("some.har", "--report", "report")[0], 1)
        sources = [self.base / "report", self.base / "other"]
        merge_reports(sources, self.base / "merged")
        said = self.check(str(self.base / "some.har"), TRAFFICMOCK_REPORT="merged")
        self.assertEqual(said, (0, f"{self.base}/some.har: all of 3 entries were used\n", ""))

    def test_unused(self) -> None:
        """Status 1: the others are listed, without secrets and control characters."""
        self.run_has(har("some.har", 3, 1), end())
        status, out, err = self.check("./some.har", "--report", "report")
        self.assertEqual((status, err), (1, ""))
        lines = out.splitlines()
        self.assertEqual(lines[0], "./some.har: 2 of 3 entries were not used")
        self.assertRegex(lines[1], r"^  2  GET http://h\.test/2\?token=\[redacted:\w{8}\]$")
        self.assertIn("\\x1b", lines[2])

    def test_unknown(self) -> None:
        """A HAR that no test has replayed; a worker that did not end is named."""
        self.run_has(har("other.har", 1, 1))
        status, out, err = self.check("some.har", "--report", "report")
        self.assertEqual(status, 1)
        self.assertIn("3 of 3 entries were not used, and no test of the run has replayed", out)
        self.assertIn("worker gw0 of pytest did not end", err)

    def test_wrong(self) -> None:
        """Status 2: no report, no file, no HAR, or one that has changed since."""
        self.run_has(har("some.har", 2, 1), har("bad.har", 9, 9), end())
        (self.base / "none.har").write_text("{}")
        self.write("bad.har", *URLS)
        report = ("--report", "report")
        for words, said in (
            ((), "check takes the HAR files"),
            (("some.har",), "pytest --trafficmock-report=DIR"),
            (("some.har", "--report", "nowhere"), "nowhere is no report"),
            (("missing.har", *report), "missing.har cannot be read: No such file"),
            (("none.har", *report), "none.har is no HAR"),
            (("some.har", *report), "some.har has changed since the run"),
            (("bad.har", *report), "bad.har has changed since the run"),
        ):
            with self.subTest(said):
                status, out, err = self.check(*words)
                self.assertEqual((status, out), (2, ""))
                self.assertIn(said, err)
