"""The data of a report, one file for each process."""

from pathlib import Path
from typing import Any

from msgspec import Raw
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.errors import LocalError
from trafficmock.report.data_files import DataFile, file_name, forget, read_records


class DataFileTests(SynchronousTestCase):
    """What a process writes."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp())

    def written(self) -> list[Path]:
        return sorted(self.directory.rglob("*.*"))

    def test_records(self) -> None:
        """Records are lines of JSON; parts that are JSON already go into them as they are."""
        file = DataFile(self.directory, "pytest-gw0")
        self.assertEqual(self.written(), [])
        file.write({"type": "begin"})
        file.write({"type": "test", "entries": [Raw(b'{"a":"\\ud800"}')]})
        (path,) = self.written()
        self.assertRegex(str(path), r"data/pytest-gw0-\d+-[0-9a-f]{8}\.jsonl$")
        expected: list[dict[str, Any]] = [
            {"type": "begin"},
            {"type": "test", "entries": [{"a": "\ud800"}]},
        ]
        self.assertEqual([*read_records(path)], expected)

    def test_side_by_side(self) -> None:
        """Two writers of one name have two files."""
        for _ in range(2):
            DataFile(self.directory, "vitest-1").write({"type": "begin"})
        self.assertEqual(len(self.written()), 2)

    def test_killed(self) -> None:
        """A last line that is not whole is left out, and so is what is no record."""
        self.directory.mkdir()
        path = self.directory / "x.jsonl"
        path.write_bytes(b'{"type":"begin"}\n[1]\n{"type":"te')
        self.assertEqual([*read_records(path)], [{"type": "begin"}])

    def test_no_room(self) -> None:
        """An error of the file system is kept, and ends the writing."""
        self.directory.write_text("a file, not a directory")
        file = DataFile(self.directory, "pytest-main")
        file.write({"type": "begin"})
        self.assertIn("Not a directory", file.problem)
        self.assertIsNone(file.write_har("a test", b"{}"))

    def test_har(self) -> None:
        """The HAR of a test has its title in its name, as far as any file system takes it."""
        name = DataFile(self.directory, "x").write_har("a/b.py::test[../ü]", b"{}")
        self.assertRegex(str(name), r"^har/a_b\.py_test-[0-9a-f]{8}\.har$")
        self.assertEqual((self.directory / str(name)).read_bytes(), b"{}")

    def test_file_name(self) -> None:
        """A name has no separators, does not begin with a dot, and is not too long."""
        self.assertEqual(file_name("../../etc/passwd"), "etc_passwd")
        self.assertEqual(file_name("日本"), "test")
        self.assertEqual(len(file_name("a" * 300)), 80)


class ForgetTests(SynchronousTestCase):
    """A new run replaces what an earlier one of the same runner has left."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp())

    def test_own(self) -> None:
        """Data and HARs of the same runner go, those of others stay."""
        for runner in ("pytest", "playwright"):
            file = DataFile(self.directory, f"{runner}-0")
            har = file.write_har(runner, b"{}")
            file.write({"type": "test", "test": {"har": har}})
        (self.directory / "notes.txt").write_text("mine")
        forget(self.directory, "pytest")
        left = sorted(path.name.split("-")[0] for path in self.directory.rglob("*.*"))
        self.assertEqual(left, ["notes.txt", "playwright", "playwright"])

    def test_paths(self) -> None:
        """Only HARs of the report are removed, whatever a record names."""
        mine = Path(self.mktemp())
        mine.write_text("mine")
        path = f"har/../../{mine.name}"
        DataFile(self.directory, "pytest-0").write({"type": "test", "test": {"har": path}})
        forget(self.directory, "pytest")
        self.assertEqual(mine.read_text(), "mine")

    def test_not_writable(self) -> None:
        """A directory that cannot be written is an error before the first test."""
        self.directory.write_text("a file")
        error = self.assertRaises(LocalError, forget, self.directory, "pytest")
        self.assertIn("the report cannot be written: ", str(error))
