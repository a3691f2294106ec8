"""Files that are whole or not there."""

import os
import stat
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.certs.files import (
    PRIVATE,
    CertificateError,
    default_directory,
    locked,
    make_directory,
    read,
    write,
)


class DirectoryTests(SynchronousTestCase):
    """Where things are kept."""

    def test_default(self) -> None:
        """The directory of systemd comes first, then an absolute XDG one, then the user's own."""
        self.patch(os, "environ", {"HOME": "/home/me"})
        for environment, expected in (
            ({}, "/home/me/.local/share/trafficmock/ca"),
            ({"XDG_DATA_HOME": "/data"}, "/data/trafficmock/ca"),
            ({"XDG_DATA_HOME": "data"}, "/home/me/.local/share/trafficmock/ca"),
            ({"STATE_DIRECTORY": "/var/lib/t:/x", "XDG_DATA_HOME": "/d"}, "/var/lib/t/ca"),
        ):
            self.assertEqual(default_directory(environment), Path(expected))

    def test_private(self) -> None:
        """A new directory belongs to its owner alone."""
        directory = Path(self.mktemp()) / "a" / "ca"
        make_directory(directory)
        make_directory(directory)
        self.assertEqual(stat.S_IMODE(directory.stat().st_mode), 0o700)

    def test_in_the_way(self) -> None:
        """A file where the directory should be is named, with what to do."""
        place = Path(self.mktemp())
        place.touch()
        error = self.assertRaises(CertificateError, make_directory, place / "ca")
        self.assertIn(str(place / "ca"), str(error))
        self.assertIn("--ca-dir", str(error))


class FileTests(SynchronousTestCase):
    """Reading and writing."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp())
        self.directory.mkdir()

    def test_written(self) -> None:
        """A file has its permissions whatever the umask, and nothing is left beside it."""
        self.addCleanup(os.umask, os.umask(0o077))
        write(self.directory / "a", b"1", 0o644)
        write(self.directory / "a", b"2", 0o644)
        write(self.directory / "k", b"3", PRIVATE)
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in self.directory.iterdir()}
        self.assertEqual(modes, {"a": 0o644, "k": 0o600})
        self.assertEqual(read(self.directory / "a"), b"2")

    def test_missing(self) -> None:
        """A file that is not there is no error."""
        self.assertIsNone(read(self.directory / "a"))
        self.assertIsNone(read(self.directory / "a" / "b"))

    def test_unreadable(self) -> None:
        """What cannot be read or written is named."""
        self.assertIn("cannot read", str(self.assertRaises(CertificateError, read, self.directory)))
        into = self.directory / "none" / "a"
        self.assertIn("cannot write", str(self.assertRaises(CertificateError, write, into, b"", 0)))
        with self.assertRaises(CertificateError), locked(self.directory / "none"):
            pass
