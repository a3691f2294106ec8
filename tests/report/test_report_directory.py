"""The files that are made of the data of processes."""

import json
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.report.records import begin, end, entry, test
from trafficmock.errors import LocalError
from trafficmock.report import report_directory
from trafficmock.report.data_files import DataFile
from trafficmock.report.report_directory import for_page, merge_reports, read_report, write_report
from trafficmock.report.run_document import run_document
from trafficmock.report.saved_page import saved_page


class WriteTests(SynchronousTestCase):
    """A merge of what is there."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp())

    def shard(self, name: str) -> Path:
        """Write the report of a shard, with one test."""
        directory = self.directory / name
        file = DataFile(directory, "pytest-main")
        har = file.write_har(name, b"{}")
        for record in (begin(name), test(name, har=har), end()):
            file.write(record)
        write_report(directory)
        return directory

    def ids(self, directory: Path) -> list[str]:
        document = json.loads((directory / "run.json").read_text())
        return [each["id"] for each in document["tests"]]

    def test_files(self) -> None:
        """It is ``run.json`` and ``index.html``, and nothing half is left."""
        directory = self.shard("one")
        self.assertEqual(self.ids(directory), ["one"])
        self.assertIn('"title":"test one"', (directory / "index.html").read_text())
        names = sorted(path.name for path in directory.iterdir())
        self.assertEqual(names, ["data", "har", "index.html", "run.json"])

    def test_again(self) -> None:
        """Doing it again changes nothing."""
        directory = self.shard("one")
        before = (directory / "run.json").read_text()
        write_report(directory)
        self.assertEqual((directory / "run.json").read_text(), before)

    def test_late_data(self) -> None:
        """What another process adds while the merge runs is in its result."""
        directory = self.shard("one")
        late = [begin("late", 2), test("late", 3)]
        plain = saved_page

        def slow(document: dict[str, object]) -> str:
            if late:
                file = DataFile(directory, "pytest-late")
                for record in late:
                    file.write(record)
                late.clear()
            return plain(document)

        self.patch(report_directory, "saved_page", slow)
        write_report(directory)
        self.assertEqual(self.ids(directory), ["one", "late"])

    def test_shards(self) -> None:
        """Reports of shards become one, with all their HARs; a shard may be the output."""
        one, two = self.shard("one"), self.shard("two")
        merged = self.directory / "all"
        merge_reports([one, two], merged)
        self.assertEqual(self.ids(merged), ["one", "two"])
        self.assertEqual(len([*(merged / "har").iterdir()]), 2)
        merge_reports([two, one], two)
        self.assertEqual(self.ids(two), ["one", "two"])
        merge_reports([one, two], merged)
        self.assertEqual(self.ids(merged), ["one", "two"])

    def test_no_report(self) -> None:
        """A directory that is no report is named, before anything is written."""
        one = self.shard("one")
        wrong = self.directory / "wrong"
        error = self.assertRaises(LocalError, merge_reports, [one, wrong], self.directory / "all")
        self.assertIn("wrong is no report: it has no directory 'data'", str(error))
        self.assertFalse((self.directory / "all").exists())

    def test_foreign_data(self) -> None:
        """Records of another form are an error that names the directory."""
        directory = self.shard("one")
        foreign = [{"type": "test", "test": 5}, {"type": "begin"}, {"type": "end", "counts": 1}]
        for record in foreign:
            (directory / "data" / "other.jsonl").write_text(json.dumps(record))
            error = self.assertRaises(LocalError, write_report, directory)
            self.assertIn(f"{directory / 'data'} has data of another version", str(error))
        (directory / "run.json").write_text('{"format": 1}')
        self.assertRaises(LocalError, read_report, directory)

    def test_large(self) -> None:
        """Beyond its limit the page has no traffic of later tests, and says where it is."""
        self.patch(report_directory, "PAGE_BYTES", 400)
        tests = [test(name, requests=[entry(name)]) for name in ("a", "b")]
        first, second = for_page(run_document([[begin("x"), *tests]]))["tests"]
        self.assertEqual((len(first["requests"]), len(second["requests"])), (1, 0))
        self.assertIn("run.json", second["missing"])
