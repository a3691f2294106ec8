"""The file of ``--ready-file``: the URL and process id of a service that listens."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path

from attrs import define

from trafficmock.errors import LocalError
from trafficmock.whole_files import write_whole

_LONGEST = 4096
_SYNCHRONIZE = 0x00100000
"""An access right that every user has for own processes (OpenProcess of the Windows API)."""


@define
class ReadyFile:
    """One JSON line with ``url`` and ``pid``, which exists while its process listens.

    Two services may be given the same path by mistake. So a file is removed only if it names this
    process, or one that does not run.

    :param path: the path of the file; ``None`` for no file.
    """

    path: Path | None

    def prepare(self) -> None:
        """Remove the file of an ended process, and check that a new one can be written.

        :raises LocalError: if it cannot be written.
        """
        path = self.path
        if path is None:
            return
        try:
            if path.exists() and not path.is_file():
                raise LocalError(
                    f"--ready-file {str(path)!r} cannot be written: it is there, and no plain file"
                )
            if path.is_file() and not _is_running(_process_of(path)):
                path.unlink(missing_ok=True)
            draft = path.with_name(f"{path.name}.{os.getpid()}")
            draft.touch()
            draft.unlink()
        except OSError as error:
            raise self._cannot("be written", error) from error

    def write(self, url: str) -> None:
        """Write the file atomically.

        :param url: the base URL of the service.
        :raises LocalError: if it cannot be written.
        """
        path = self.path
        if path is None:
            return
        text = json.dumps({"url": url, "pid": os.getpid()}) + "\n"
        try:
            write_whole(path, text.encode())
        except OSError as error:
            raise self._cannot("be written", error) from error

    def remove(self) -> None:
        """Remove the file if this process wrote it.

        :raises LocalError: if it cannot be removed.
        """
        path = self.path
        try:
            if path is not None and path.is_file() and _process_of(path) == os.getpid():
                path.unlink(missing_ok=True)
        except OSError as error:
            raise self._cannot("be removed", error) from error

    def _cannot(self, act: str, error: OSError) -> LocalError:
        return LocalError(f"--ready-file {str(self.path)!r} cannot {act}: {error.strerror}")


def _process_of(path: Path) -> int | None:
    """Read the process id in a file; ``None`` if it is not a ready file."""
    with path.open("rb") as file:
        text = file.read(_LONGEST)
    try:
        process = json.loads(text)["pid"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return process if type(process) is int and process > 0 else None


def _is_running(process: int | None) -> bool:
    if process is None or process == os.getpid():
        return False
    if sys.platform == "win32":
        # Signal 0 of os.kill is Ctrl-C there.
        handle = ctypes.windll.kernel32.OpenProcess(_SYNCHRONIZE, 0, process)
        return bool(handle) and bool(ctypes.windll.kernel32.CloseHandle(handle))
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
