"""The file that tells where the service listens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.errors import LocalError
from trafficmock.server.process.ready_file import ReadyFile

URL = "http://127.0.0.1:4310"


def ended_process() -> int:
    """Give the id of a process that is not there any more."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


class ReadyFileTests(SynchronousTestCase):
    """Written, and removed by whoever wrote it."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp())
        self.file = ReadyFile(self.path)

    def of_process(self, process: int) -> str:
        text = json.dumps({"url": URL, "pid": process})
        self.path.write_text(text)
        return text

    def test_written_and_removed(self) -> None:
        """It is one JSON line, with nothing left beside it."""
        self.file.prepare()
        self.file.write(URL)
        text = self.path.read_text()
        self.assertEqual(json.loads(text), {"url": URL, "pid": os.getpid()})
        self.assertTrue(text.endswith("}\n"))
        self.assertEqual(list(self.path.parent.glob(f"{self.path.name}.*")), [])
        self.file.remove()
        self.assertFalse(self.path.exists())
        self.file.remove()

    def test_of_a_running_process(self) -> None:
        """The file of another process that is there stays, at the start and at the end."""
        text = self.of_process(os.getppid())
        self.file.prepare()
        self.file.remove()
        self.assertEqual(self.path.read_text(), text)

    def test_left_behind(self) -> None:
        """The file of a process that has ended goes, and so does one that says nothing."""
        for process in (ended_process(), os.getpid(), 2**80):
            self.of_process(process)
            self.file.prepare()
            self.assertFalse(self.path.exists(), process)

    @given(st.binary(max_size=50) | st.sampled_from([b'{"pid": "1"}', b'{"pid": true}', b"[1]"]))
    def test_any_content(self, content: bytes) -> None:
        """Whatever stands in a file, it is no reason to fail."""
        self.path.write_bytes(content)
        self.file.remove()
        self.assertEqual(self.path.read_bytes(), content)
        self.file.prepare()
        self.assertFalse(self.path.exists())

    def test_no_file(self) -> None:
        """Without a path nothing happens."""
        for act in (lambda f: f.prepare(), lambda f: f.write(URL), lambda f: f.remove()):
            act(ReadyFile(None))
        self.assertEqual(list(self.path.parent.iterdir()), [])

    def test_in_the_way(self) -> None:
        """What is no plain file is named in one line, and stays; no draft is left."""
        self.path.mkdir()
        for act in (self.file.prepare, lambda: self.file.write(URL)):
            error = self.assertRaises(LocalError, act)
            self.assertIn("--ready-file", str(error))
            self.assertIn("cannot be written", str(error))
            self.assertNotIn("\n", str(error))
        self.assertEqual(list(self.path.parent.iterdir()), [self.path])

    def test_missing_directory(self) -> None:
        """A directory that is not there is said."""
        file = ReadyFile(self.path / "missing" / "file")
        for act in (file.prepare, partial(file.write, URL)):
            self.assertIn("No such file", str(self.assertRaises(LocalError, act)))

    def test_unreadable(self) -> None:
        """A path through something that is no directory is said, too."""
        self.path.write_text("")
        file = ReadyFile(self.path / "file")
        for act in (file.prepare, partial(file.write, URL)):
            self.assertIn("cannot be written", str(self.assertRaises(LocalError, act)))
