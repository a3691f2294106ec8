"""Writes files, and checks that private files belong to their owner alone."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import platformdirs

from trafficmock.errors import LocalError
from trafficmock.file_locks import lock
from trafficmock.whole_files import write_whole

PRIVATE = 0o600
PUBLIC = 0o644
_ROOT = 0
_LOCK = ".lock"


class CertificateError(LocalError):
    """The certificate authority cannot be used; the text says why, and how to correct it."""


def default_directory(environment: Mapping[str, str]) -> Path:
    """Return the default directory of the certificate authority.

    :param environment: its ``STATE_DIRECTORY`` (systemd.exec) is used first, then
        ``XDG_DATA_HOME`` if it is absolute (XDG Base Directory Specification), else the
        platform's directory of user data: ``~/.local/share`` on Linux,
        ``~/Library/Application Support`` on macOS, ``%LOCALAPPDATA%`` on Windows.
    """
    state = environment.get("STATE_DIRECTORY", "").split(":")[0]
    if state:
        return Path(state) / "ca"
    data = Path(environment.get("XDG_DATA_HOME", ""))
    if data.is_absolute():
        return data / "trafficmock" / "ca"
    if sys.platform in {"darwin", "win32"}:
        return platformdirs.user_data_path("trafficmock", appauthor=False) / "ca"
    data = Path(os.path.expanduser("~")) / ".local" / "share"  # noqa: PTH111 - Path.home() raises where there is none
    return data / "trafficmock" / "ca"


def make_directory(directory: Path) -> None:
    """Make a directory that only its owner can enter; an existing one stays as it is.

    On Windows it gets the access control list of the directory above it, as all files do there:
    below a user's profile that admits the user and administrators.

    :raises CertificateError: if it cannot be made.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot("make", directory, error) from error


def read(path: Path) -> bytes | None:
    """Read a file.

    :returns: its content; ``None`` if there is no such file.
    :raises CertificateError: if it cannot be read.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _cannot("read", path, error) from error


def read_private(path: Path) -> bytes | None:
    """Read a private file, such as a key.

    :returns: its content; ``None`` if there is no such file.
    :raises CertificateError: if it cannot be read, belongs to a user other than this process's
        or root, or gives its group or others any permission.
    """
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            _check_owner(path, about)
            if _has_modes() and stat.S_IMODE(about.st_mode) & 0o077:
                raise CertificateError(
                    f"{path} can be read by others than its owner, who could then pose as any "
                    f"server. Run: chmod 600 {path}"
                )
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _cannot("read", path, error) from error


def check_directory(directory: Path) -> None:
    """Check that no other user can put files into a directory; a missing directory passes.

    :raises CertificateError: if it belongs to a user other than this process's or root, or its
        permissions let its group or others write.
    """
    try:
        about = directory.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _cannot("read", directory, error) from error
    _check_owner(directory, about)
    if _has_modes() and stat.S_IMODE(about.st_mode) & 0o022:
        raise CertificateError(
            f"{directory} can be written by others than its owner, who could put a certificate "
            f"authority of their own into it. Run: chmod go-w {directory}"
        )


def _has_modes() -> bool:
    """Return whether files have an owner and permission bits; on Windows ``os.stat`` has none."""
    return sys.platform != "win32"


def _check_owner(path: Path, about: os.stat_result) -> None:
    if sys.platform == "win32":
        return
    user = os.geteuid()
    if about.st_uid not in {user, _ROOT}:
        raise CertificateError(
            f"{path} belongs to user {about.st_uid}, not to user {user}, which this process "
            f"runs as, or root: its owner could pose as any server. Run: chown {user} {path}, "
            "or choose a directory of your own with --ca-dir."
        )


def write(path: Path, content: bytes, mode: int) -> None:
    """Write a file, or replace it.

    :param mode: its permissions, :data:`PRIVATE` or :data:`PUBLIC`.
    :raises CertificateError: if it cannot be written.
    """
    try:
        write_whole(path, content, mode)
    except OSError as error:
        raise _cannot("write", path, error) from error


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the lock file of a directory, so that one process at a time writes into it.

    :raises CertificateError: if the directory is not writable.
    """
    path = directory / _LOCK
    try:
        file = path.open("wb")
    except OSError as error:
        raise _cannot("write", path, error) from error
    with file:
        lock(file)
        yield


def _cannot(act: str, path: Path, error: OSError) -> CertificateError:
    return CertificateError(
        f"cannot {act} {path}: {error.strerror}. "
        "Choose a directory of your own for certificates with --ca-dir, or with XDG_DATA_HOME."
    )
