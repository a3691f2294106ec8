"""Files that are whole or not there."""

import os
import stat
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.certificates.files import (
    PRIVATE,
    CertificateError,
    check_directory,
    default_directory,
    locked,
    make_directory,
    read,
    read_private,
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


class OwnerTests(SynchronousTestCase):
    """Who could have put something in place."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp())
        self.directory.mkdir(mode=0o700)
        self.key = self.directory / "key"
        write(self.key, b"1", PRIVATE)

    def of_another(self, path: Path) -> None:
        """Make a path look as if it were of another user; root can give it away for real."""
        if os.geteuid() == 0:
            os.chown(path, 65534, -1)
        else:
            user = os.geteuid()
            self.patch(os, "geteuid", lambda: user + 1)

    def test_ours(self) -> None:
        """What is ours alone is read."""
        check_directory(self.directory)
        self.assertEqual(read_private(self.key), b"1")

    def test_missing(self) -> None:
        """What is not there yet is not wrong."""
        check_directory(self.directory / "a")
        self.assertIsNone(read_private(self.directory / "a" / "key"))

    def test_readable(self) -> None:
        """A file that others can read is refused, with the command that mends it."""
        for mode in (0o640, 0o604, 0o660):
            self.key.chmod(mode)
            error = self.assertRaises(CertificateError, read_private, self.key)
            self.assertIn(f"chmod 600 {self.key}", str(error))

    def test_writable(self) -> None:
        """A directory that others can write to is refused, with the command that mends it."""
        for mode in (0o777, 0o1777, 0o770, 0o702):
            self.directory.chmod(mode)
            error = self.assertRaises(CertificateError, check_directory, self.directory)
            self.assertIn(f"chmod go-w {self.directory}", str(error))
        self.directory.chmod(0o755)
        check_directory(self.directory)

    def test_file_of_another(self) -> None:
        """A file of another user is refused in one line that names both users."""
        self.of_another(self.key)
        error = self.assertRaises(CertificateError, read_private, self.key)
        self.assertIn(f"{self.key} belongs to user ", str(error))
        self.assertNotIn("\n", str(error))

    def test_directory_of_another(self) -> None:
        """A directory of another user is refused."""
        self.of_another(self.directory)
        error = self.assertRaises(CertificateError, check_directory, self.directory)
        self.assertIn(f"{self.directory} belongs to user ", str(error))


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
