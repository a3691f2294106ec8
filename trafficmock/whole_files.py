"""Writes files whole: a reader finds the old content or the new one, never a part."""

from __future__ import annotations

import errno
import secrets
import stat
from pathlib import Path

_OWNER_ONLY = 0o600
_NOT_REPLACED = frozenset({errno.EACCES, errno.EBUSY, errno.EPERM, errno.EROFS})
"""The errors where the directory may not be changed, or the file alone is mounted."""


def write_whole(path: Path, content: bytes, mode: int = 0) -> None:
    """Write a file, or replace it.

    :param mode: its permissions; 0 for those that new files have. The content is never to be read
        by others than these permissions allow.
    :raises OSError: it cannot be written; the old file stays.
    """
    # The name of the file may be as long as names may be.
    draft = path.with_name(f".{secrets.token_hex(8)}")
    draft.touch(_OWNER_ONLY if mode else 0o666, exist_ok=False)
    try:
        draft.write_bytes(content)
        if mode:
            draft.chmod(mode)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def rewrite_whole(path: Path, content: bytes) -> None:
    """Write a file that a user has named; one that is there keeps its permissions.

    A link stays one. What is no file, as ``/dev/null`` or a pipe, is written to as it is, and so is
    a file that cannot be replaced.

    :raises OSError: it cannot be written; a file that can be replaced stays as it was.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = 0
    # What is no file may have no name: /dev/stdout may lead to a pipe.
    if mode and not stat.S_ISREG(mode):
        path.write_bytes(content)
        return
    try:
        write_whole(path.resolve(), content, stat.S_IMODE(mode))
    except OSError as error:
        if not mode or error.errno not in _NOT_REPLACED:
            raise
        path.write_bytes(content)
