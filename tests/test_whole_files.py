"""Files that are written whole."""

import errno
import os
import stat
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.whole_files import rewrite_whole, write_whole


class FolderCase(SynchronousTestCase):
    """An empty directory, and a path in it."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp())
        self.folder.mkdir()
        self.path = self.folder / "a.json"

    def mode(self) -> int:
        return stat.S_IMODE(self.path.stat().st_mode)


class WholeFileTests(FolderCase):
    """What is in a directory after a file was written into it."""

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


class RewrittenFileTests(FolderCase):
    """A file that a user names."""

    def test_permissions_kept(self) -> None:
        """Those of a file that is there are kept."""
        self.path.touch()
        for mode in (0o640, 0o600):
            self.path.chmod(mode)
            rewrite_whole(self.path, b"new")
            self.assertEqual((self.path.read_bytes(), self.mode()), (b"new", mode))

    def test_link(self) -> None:
        """A link stays one, also to a file that is not there yet."""
        link = self.folder / "link"
        link.symlink_to(self.path.name)
        for content in (b"first", b"second"):
            rewrite_whole(link, content)
            self.assertEqual((self.path.read_bytes(), link.is_symlink()), (content, True))

    def test_link_to_itself(self) -> None:
        """A link that leads to no file is an error of the system."""
        self.path.symlink_to(self.path.name)
        self.assertRaises(OSError, rewrite_whole, self.path, b"x")
        self.assertTrue(self.path.is_symlink())

    def test_pipe(self) -> None:
        """A pipe without a name is written to, as /dev/stdout may be one."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        with open(writer, "wb"):  # noqa: PTH123 - a descriptor
            rewrite_whole(Path(f"/dev/fd/{writer}"), b"text")
        self.assertEqual(os.read(reader, 10), b"text")

    def test_interrupted(self) -> None:
        """The old file stays if the new one cannot be written whole."""
        self.path.write_bytes(b"old")

        def interrupt(_draft: Path, _content: bytes) -> int:
            raise KeyboardInterrupt

        self.patch(Path, "write_bytes", interrupt)
        self.assertRaises(KeyboardInterrupt, rewrite_whole, self.path, b"new")
        self.assertEqual(self.path.read_bytes(), b"old")
        self.assertEqual([*self.folder.iterdir()], [self.path])

    def test_mounted(self) -> None:
        """A file that cannot be replaced, as one that is mounted alone, is written in its place."""

        def refuse(_draft: Path, _path: Path) -> Path:
            raise OSError(self.errno, os.strerror(self.errno))

        self.patch(Path, "replace", refuse)
        self.errno = errno.EBUSY
        self.assertRaises(OSError, rewrite_whole, self.path, b"new")
        self.path.write_bytes(b"old")
        rewrite_whole(self.path, b"new")
        self.assertEqual(self.path.read_bytes(), b"new")
        self.errno = errno.ENOSPC
        self.assertRaises(OSError, rewrite_whole, self.path, b"newer")
        self.assertEqual(self.path.read_bytes(), b"new")
        self.assertEqual([*self.folder.iterdir()], [self.path])

    def test_device(self) -> None:
        """What is no file is written to, and stays what it is."""
        rewrite_whole(Path(os.devnull), b"gone")
        self.assertTrue(Path(os.devnull).is_char_device())
        self.path.mkdir()
        self.assertRaises(IsADirectoryError, rewrite_whole, self.path, b"x")
