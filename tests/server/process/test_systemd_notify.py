"""What systemd is told."""

import socket
from pathlib import Path
from tempfile import mkdtemp

from twisted.python.filepath import FilePath
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.process.systemd_notify import notify


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
