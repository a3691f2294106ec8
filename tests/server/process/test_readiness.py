"""Who is told that the service is ready."""

import json
import os
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from hypothesis import given
from hypothesis import strategies as st
from twisted.python.filepath import FilePath
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.errors import LocalError
from trafficmock.server.process.ready_file import ReadyFile
from trafficmock.server.process.systemd_notify import notify

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


class NotifyTests(SynchronousTestCase):
    """The protocol of sd_notify(3)."""

    def listener(self, address: str) -> socket.socket:
        heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(heard.close)
        heard.settimeout(5)
        heard.bind(address)
        return heard

    def test_path(self) -> None:
        """A state goes to the socket that NOTIFY_SOCKET names."""
        directory = Path(mkdtemp())
        self.addCleanup(FilePath(str(directory)).remove)
        path = str(directory / "notify")
        heard = self.listener(path)
        notify("READY=1", {"NOTIFY_SOCKET": path})
        self.assertEqual(heard.recv(100), b"READY=1")

    def test_abstract(self) -> None:
        """A name that begins with @ is in the abstract namespace."""
        name = f"trafficmock-test-{id(self)}"
        heard = self.listener("\0" + name)
        notify("STOPPING=1", {"NOTIFY_SOCKET": "@" + name})
        self.assertEqual(heard.recv(100), b"STOPPING=1")

    def test_nobody(self) -> None:
        """Without a notify socket nothing happens."""
        notify("READY=1", {})

    def test_gone(self) -> None:
        """A socket that is not there is no reason to fail."""
        notify("READY=1", {"NOTIFY_SOCKET": "/nonexistent/notify"})
