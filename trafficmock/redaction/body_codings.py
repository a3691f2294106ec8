"""Decodes coded bodies, and encodes them again after secrets in them have been replaced."""

from __future__ import annotations

import gzip
import zlib
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_DECODED = 64 * 1024 * 1024
"""The most bytes that a body may have when it is decoded."""

_GZIP_MAGIC = b"\x1f\x8b"
_STEP = 1024 * 1024
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class TooLargeError(ValueError):
    """A decoded body is larger than :data:`MOST_DECODED`."""


def can_decode(coding: str) -> bool:
    """Return whether bodies in a coding, such as ``gzip`` or ``br``, can be decoded."""
    return coding in _WINDOW_BITS or (coding == "br" and find_spec("brotli") is not None)


def codings_of(header: str | None) -> list[str]:
    """Return the codings of a ``content-encoding``, in the order in which they were applied."""
    names = [name.strip().lower() for name in (header or "").split(",")]
    return [name for name in names if name and name != "identity"]


def decode(content: bytes, codings: Sequence[str]) -> bytes | None:
    """Decode a body.

    :returns: the body; ``None`` if it is damaged, or has an unknown coding.
    :raises TooLargeError: it becomes too large.
    """
    for coding in reversed(codings):
        if not can_decode(coding):
            return None
        try:
            content = _brotli(content) if coding == "br" else _zlib(content, coding)
        except (zlib.error, EOFError):
            return None
    return content


def encode(content: bytes, codings: Sequence[str]) -> bytes:
    """Encode a body in codings that :func:`decode` knows."""
    for coding in codings:
        if coding == "br":
            content = import_module("brotli").compress(content, quality=4)
        elif coding == "deflate":
            content = zlib.compress(content)
        else:
            content = gzip.compress(content, mtime=0)
    return content


def is_coded(content: bytes, codings: Sequence[str]) -> bool:
    """Return whether a body is coded: agents record a decoded one with the header of the coded."""
    if not codings:
        return False
    if codings[-1] in ("gzip", "x-gzip"):
        return content.startswith(_GZIP_MAGIC)
    return not _is_text(content)


def _is_text(content: bytes) -> bool:
    try:
        return content[:4096].decode().isprintable()
    except UnicodeDecodeError:
        return False


def _zlib(content: bytes, coding: str) -> bytes:
    parts, size = [], 0
    bits = _WINDOW_BITS[coding]
    if coding == "deflate" and (content[:1] != b"\x78"):
        bits = -15
    while content:
        decoder = zlib.decompressobj(bits)
        part = decoder.decompress(content, MOST_DECODED - size + 1)
        size += len(part)
        if size > MOST_DECODED:
            raise TooLargeError
        parts.append(part)
        if not decoder.eof:
            break
        content = decoder.unused_data
        if not content.startswith(_GZIP_MAGIC):
            break
    return b"".join(parts)


def _brotli(content: bytes) -> bytes:
    brotli = import_module("brotli")
    decoder, parts, size = brotli.Decompressor(), [], 0
    try:
        while not decoder.is_finished():
            part = decoder.process(content, output_buffer_limit=_STEP)
            content = b""
            if not part and decoder.can_accept_more_data():
                break
            parts.append(part)
            size += len(part)
            if size > MOST_DECODED:
                raise TooLargeError
    except brotli.error as error:
        raise zlib.error(str(error)) from None
    return b"".join(parts)
