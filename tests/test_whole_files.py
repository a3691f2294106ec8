"""Files that are written whole."""

import os
import stat
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.whole_files import write_whole


class WholeFileTests(SynchronousTestCase):
    """What is in a directory after a file was written into it."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp())
        self.folder.mkdir()
        self.path = self.folder / "a.json"

    def mode(self) -> int:
        return stat.S_IMODE(self.path.stat().st_mode)

    def test_replaced(self) -> None:
        """The file has the new content alone, and nothing is left beside it."""
        for content in (b"a long text", b"short"):
            write_whole(self.path, content)
            self.assertEqual(self.path.read_bytes(), content)
        self.assertEqual([*self.folder.iterdir()], [self.path])

    def test_longest_name(self) -> None:
        """A file may have the longest name that the file system allows."""
        path = self.folder / ("n" * os.pathconf(self.folder, "PC_NAME_MAX"))
        write_whole(path, b"text")
        self.assertEqual([*self.folder.iterdir()], [path])

    def test_permissions(self) -> None:
        """They are the given ones whatever the umask is, else those of new files."""
        self.addCleanup(os.umask, os.umask(0o077))
        for mode, found in ((0o644, 0o644), (0o600, 0o600), (0, 0o600)):
            write_whole(self.path, b"", mode)
            self.assertEqual(self.mode(), found)

    def test_private_from_the_beginning(self) -> None:
        """Nobody else may read the content while it is written."""
        modes = []
        write = Path.write_bytes

        def note(draft: Path, content: bytes) -> int:
            modes.append(stat.S_IMODE(draft.stat().st_mode))
            return write(draft, content)

        self.patch(Path, "write_bytes", note)
        write_whole(self.path, b"secret", 0o600)
        self.assertEqual(modes, [0o600])

    def test_failed(self) -> None:
        """The old file stays, and no draft of the new one."""
        self.path.mkdir()
        (self.path / "kept").touch()
        self.assertRaises(OSError, write_whole, self.path, b"x")
        self.assertEqual([*self.folder.iterdir()], [self.path])
