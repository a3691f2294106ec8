"""Reads and copies files of reports and HARs that others have made: regular files, and so much."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from attrs import define

from trafficmock.errors import LocalError
from trafficmock.report.report_settings import MOST_HAR_BYTES

_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@define
class Room:
    """What may still be read for one page; what is read twice counts twice.

    :param name: of the file that the page is of, for messages.
    """

    name: str
    left: int = MOST_HAR_BYTES

    def take(self, size: int) -> None:
        """Count bytes.

        :raises LocalError: there is no room for them.
        """
        self.left -= size
        if self.left < 0:
            raise LocalError(
                f"{self.name} has, with the files of its bodies, more than {MOST_HAR_BYTES} bytes, "
                "too many for a page; a file that several entries name counts for each"
            )


def read_file(path: Path, room: Room, *, is_named: bool = False) -> bytes:
    """Read a regular file.

    :param is_named: the user has named it, and it may be a link.
    :raises LocalError: it is another kind of file, such as a pipe or a device, or too large.
    :raises OSError: it cannot be read; a link is such an error.
    """
    # A pipe would have the command wait for somebody who writes.
    flags = os.O_RDONLY | _WITHOUT_WAITING | (0 if is_named else _NO_LINK)
    if not is_named and path.is_symlink():
        raise FileNotFoundError(f"{path} is a link")
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 - of a descriptor
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise LocalError(f"{path} is no regular file")
        room.take(state.st_size)
        return file.read(state.st_size)


def check_regular(path: Path) -> None:
    """Refuse what is no regular file, or is a link.

    :raises LocalError: it is one.
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        raise LocalError(
            f"{path} is no regular file: files of a report are neither links nor pipes"
        )


def check_directory(path: Path) -> None:
    """Refuse a link in the place of a directory.

    :raises LocalError: it is one, or a file.
    """
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise LocalError(f"{path} is a link or a file: a report has a directory there")
