"""The files that are made of the data of processes."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

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
            self.assertIn(f"{directory / 'data'}", str(error))
            self.assertIn("has data of another version", str(error))
        (directory / "run.json").write_text('{"format": 1}')
        self.assertRaises(LocalError, read_report, directory)

    def test_fields(self) -> None:
        """A record that no page can show is named, with the field; so is a foreign link."""
        directory = self.shard("one")
        whole = test("x")["test"]
        for name in ("id", "title", "routes", "requests", "startedAt"):
            record: dict[str, Any] = {
                "type": "test",
                "test": {key: whole[key] for key in whole if key != name},
            }
            self.assertIn(f"test.{name}", self._refused(directory, record))
        for har in ("javascript:alert(1)", "data:text/html,a", "file:///etc/passwd", "../a.har"):
            self.assertIn("test.har", self._refused(directory, test("x", har=har)))
        self.assertIn("routes", self._refused(directory, test("x", routes=[{"kind": "http"}])))
        run = json.loads((directory / "run.json").read_text())
        run["tests"][0]["har"] = "javascript:alert(1)"
        (directory / "run.json").write_text(json.dumps(run))
        error = self.assertRaises(LocalError, read_report, directory)
        self.assertIn("no path such as har/NAME.har", str(error))

    def _refused(self, directory: Path, record: dict[str, Any]) -> str:
        (directory / "data" / "other.jsonl").write_text(json.dumps(record))
        return str(self.assertRaises(LocalError, write_report, directory))

    def test_one_name(self) -> None:
        """Two shards whose files have one name are kept apart, and their HARs, too."""
        merged = self.directory / "all"
        shards = [self.directory / name for name in ("one", "two")]
        for shard in shards:
            (shard / "data").mkdir(parents=True)
            (shard / "har").mkdir()
            (shard / "har" / "a.har").write_text(json.dumps(shard.name))
            records = [begin(shard.name), test(shard.name, har="har/a.har"), end()]
            lines = "".join(json.dumps(each) + "\n" for each in records)
            (shard / "data" / "pytest-1.jsonl").write_text(lines)
        for _ in range(2):
            merge_reports(shards, merged)
            tests = json.loads((merged / "run.json").read_text())["tests"]
            self.assertEqual([each["id"] for each in tests], ["one", "two"])
            hars = [json.loads((merged / each["har"]).read_text()) for each in tests]
            self.assertEqual(hars, ["one", "two"])
        with (shards[0] / "data" / "pytest-1.jsonl").open("a") as file:
            file.write(json.dumps(test("three")) + "\n")
        merge_reports(shards, merged)
        self.assertEqual(self.ids(merged), ["one", "three", "two"])

    def test_damaged(self) -> None:
        """What is no record is said; but not a last line that is not whole."""
        for content, said in (
            (b"\0" * 5000, "1 of 1 lines"),
            ("{}\n".encode("utf-16"), "of 2 lines"),
            (b"\xff\xfe{}\n{}\n", "1 of 2 lines"),
            (b"[" * 200_000, "1 of 1 lines"),
            (b"", "it is empty"),
            (b'{}\n{"type": ', ""),
        ):
            directory = self.shard("one")
            (directory / "data" / "other.jsonl").write_bytes(content)
            damaged: list[str] = []
            merge_reports([directory], self.directory / "all", damaged)
            self.assertEqual(self.ids(self.directory / "all")[0], "one")
            self.assertEqual(len(damaged), bool(said), (content[:9], damaged))
            self.assertIn(said, " ".join(damaged))
            shutil.rmtree(self.directory)

    def test_links(self) -> None:
        """Links and pipes are neither read nor written through."""
        one, other = self.shard("one"), self.shard("other")
        secret = self.directory / "secret"
        secret.write_text("abc")
        for name in ("har/z.har", "data/z.jsonl"):
            place = one / name
            for make in (lambda each: each.symlink_to(secret), os.mkfifo):
                make(place)
                error = self.assertRaises(LocalError, merge_reports, [one], self.directory / "all")
                self.assertIn("is no regular file", str(error))
                place.unlink()
        merged = self.directory / "all"
        merged.mkdir()
        (merged / "data").symlink_to(other / "data")
        error = self.assertRaises(LocalError, merge_reports, [one], merged)
        self.assertIn("is a link", str(error))
        (merged / "data").unlink()
        (merged / "run.json").symlink_to(secret)
        (merged / "index.html").symlink_to(secret)
        merge_reports([one], merged)
        self.assertEqual(secret.read_text(), "abc")

    def test_large(self) -> None:
        """Beyond its limit the page has no traffic of later tests, and says where it is."""
        self.patch(report_directory, "PAGE_BYTES", 400)
        tests = [test(name, requests=[entry(name)]) for name in ("a", "b")]
        first, second = for_page(run_document([[begin("x"), *tests]]))["tests"]
        self.assertEqual((len(first["requests"]), len(second["requests"])), (1, 0))
        self.assertIn("run.json", second["missing"])
