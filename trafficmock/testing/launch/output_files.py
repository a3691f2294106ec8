"""What an application of several test processes writes, in files, the newest part of it.

A file has :data:`PIECE_BYTES`; when it is full the next one begins, and the one before it is
removed. So a position in the output is the number of a file, and a place in it.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from attrs import define, field

PIECE_BYTES = 256 * 1024
_POLL_SECONDS = 0.02


@define(eq=False)
class OutputWriter:
    """Writes the files.

    :param prefix: the path of the files without their numbers.
    """

    prefix: Path
    _number: int = 0
    _file: IO[bytes] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._file = self._path(0).open("wb", buffering=0)

    def _path(self, number: int) -> Path:
        return self.prefix.with_name(f"{self.prefix.name}.{number}")

    def write(self, data: bytes) -> None:
        """Append to the output."""
        while data:
            room = PIECE_BYTES - self._file.tell()
            self._file.write(data[:room])
            data = data[room:]
            if self._file.tell() == PIECE_BYTES:
                self._next()

    def _next(self) -> None:
        self._file.close()
        self._number += 1
        self._file = self._path(self._number).open("wb", buffering=0)
        # A reader on Windows may have it open: then it stays.
        with suppress(OSError):
            self._path(self._number - 2).unlink(missing_ok=True)


@define(eq=False)
class OutputFiles:
    """Reads the files, as :class:`~trafficmock.testing.launch.application.Output` reads a pipe.

    :param prefix: as of :class:`OutputWriter`.
    """

    prefix: Path
    _marked: int = 0

    def mark(self) -> None:
        """Let :meth:`since_mark` begin here."""
        pieces = self._pieces()
        self._marked = pieces[-1][0] + len(pieces[-1][1]) if pieces else 0

    def since_mark(self) -> str:
        """Return what was written since the mark, as far as it is kept."""
        parts = [data[max(self._marked - at, 0) :] for at, data in self._pieces()]
        return b"".join(parts).decode(errors="replace")

    def text(self) -> str:
        """Return what is kept."""
        return b"".join(data for _, data in self._pieces()).decode(errors="replace")

    def wait(self, seconds: float) -> None:
        """Wait for more output, or for its end."""
        time.sleep(seconds)

    def wait_for_end(self, seconds: float) -> None:
        """Wait a moment for the rest of what an application wrote that has ended."""
        time.sleep(min(seconds, 10 * _POLL_SECONDS))

    def _pieces(self) -> list[tuple[int, bytes]]:
        """Return the files with the positions at which they begin, the oldest first."""
        found: list[tuple[int, bytes]] = []
        for path in self.prefix.parent.glob(f"{self.prefix.name}.*"):
            number = path.suffix[1:]
            # The writer may remove it meanwhile.
            with suppress(FileNotFoundError):
                if number.isdecimal():
                    found.append((int(number) * PIECE_BYTES, path.read_bytes()))
        return sorted(found)
