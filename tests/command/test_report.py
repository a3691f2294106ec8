"""``trafficmock report``."""

import json
from pathlib import Path

from tests.command.recorded_proxy import CommandTestCase
from tests.report.records import begin, end, test
from trafficmock.report.data_files import DataFile


class ReportTests(CommandTestCase):
    """Shards become one."""

    def test_merge(self) -> None:
        """It says where the result is, and how the tests have ended."""
        place = Path(self.mktemp())
        for name in ("one", "two"):
            file = DataFile(place / name, "pytest")
            for record in (begin(name), test(name), end(counts={"failed": 1, "passed": 2})):
                file.write(record)
        words = [str(place / name) for name in ("one", "two")]
        done = self.run_command("report", "merge", *words, "--output", str(place / "all"))
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(done.out, f"{place}/all/index.html (2 failed, 4 passed)\n")
        document = json.loads((place / "all" / "run.json").read_text())
        self.assertEqual([each["id"] for each in document["tests"]], ["one", "two"])

    def test_damaged(self) -> None:
        """A shard that is damaged is named, and the rest is in the report."""
        place = Path(self.mktemp())
        file = DataFile(place / "one", "pytest")
        for record in (begin("one"), test("one"), end(counts={"passed": 1})):
            file.write(record)
        (place / "one" / "data" / "two.jsonl").write_bytes(bytes(100))
        words = ["report", "merge", str(place / "one"), "--output", str(place / "all")]
        done = self.run_command(*words)
        self.assertNotEqual(done.status, 0)
        self.assertIn("index.html (1 passed)", done.out)
        self.assertIn("two.jsonl is damaged: 1 of 1 lines are no records", done.err)

    def test_wrong(self) -> None:
        """A directory that is no report is an error, and so is a missing output."""
        done = self.run_command("report", "merge", "nowhere", "--output", "all")
        self.assertNotEqual(done.status, 0)
        self.assertEqual(
            done.err, "trafficmock report: nowhere is no report: it has no directory 'data'\n"
        )
        self.assertEqual(self.run_command("report", "merge", "a").status, 2)
