"""Decodes coded bodies, and encodes them again after secrets in them have been replaced."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec

MOST_DECODED = 64 * 1024 * 1024
"""The most bytes that a body may have when it is decoded."""

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_STEP = 1024 * 1024
_AT_ONCE = 4096
"""Bytes that a decoder for gzip and deflate gets at once."""
_MOST_WINDOW = 2**27
"""The most memory of a decoder for zstd, which is what its command-line program allows."""
_LONGEST_OF_NOTHING = 64
"""Bytes beyond which a body that becomes nothing is one whose first block is not whole."""
_GZIPS = ("gzip", "x-gzip")
_ZSTDS = ("zstd", "zst")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


class UnreadableError(ValueError):
    """A coded body cannot be searched: its coding is unknown, it is damaged, or is too large."""


class _DamagedError(Exception):
    """A body is not in the coding, or no further."""


def can_decode(coding: str) -> bool:
    """Return whether bodies in a coding, such as ``gzip`` or ``br``, can be decoded."""
    if coding in _ZSTDS:
        return find_spec("zstandard") is not None
    if coding == "br":
        return find_spec("brotli") is not None
    return coding in _GZIPS or coding == "deflate"


def codings_of(header: str | None) -> list[str]:
    """Return the codings of a ``content-encoding``, in the order in which they were applied."""
    names = [name.strip().lower() for name in (header or "").split(",")]
    return [name for name in names if name and name != "identity"]


def codings_by_magic(content: bytes) -> list[str]:
    """Return the coding that a body begins with the magic number of, as files in it do."""
    found = {_GZIP_MAGIC: "gzip", _ZSTD_MAGIC: "zstd"}
    return [coding for magic, coding in found.items() if content.startswith(magic)]


def decode(content: bytes, codings: Sequence[str]) -> bytes | None:
    """Decode a body.

    :returns: the body, or its beginning if it is cut off; ``None`` if it is in none of the codings.
    :raises UnreadableError: it is damaged, becomes too large, or has an unknown coding.
    """
    for number, coding in enumerate(reversed(codings)):
        if not can_decode(coding):
            raise UnreadableError(f"bodies in {coding} cannot be read")
        parts: list[bytes] = []
        size = 0
        try:
            for part in _parts(content, coding):
                parts.append(part)
                size += len(part)
                if size > MOST_DECODED:
                    raise UnreadableError("it becomes too large")
        except _DamagedError:
            if number or size or content.startswith((_GZIP_MAGIC, _ZSTD_MAGIC)):
                raise UnreadableError("it is damaged") from None
            return None
        decoded = b"".join(parts)
        if not decoded and len(content) > _LONGEST_OF_NOTHING:
            raise UnreadableError("it is cut off")
        content = decoded
    return content


def encode(content: bytes, codings: Sequence[str]) -> bytes:
    """Encode a body in codings that :func:`decode` knows."""
    for coding in codings:
        if coding == "br":
            content = import_module("brotli").compress(content, quality=4)
        elif coding in _ZSTDS:
            content = import_module("zstandard").compress(content)
        elif coding == "deflate":
            content = zlib.compress(content)
        else:
            content = gzip.compress(content, mtime=0)
    return content


def is_coded(content: bytes, codings: Sequence[str]) -> bool:
    """Return whether a body is coded: agents record a decoded one with the header of the coded."""
    if not codings:
        return False
    if codings[-1] in _GZIPS:
        return content.startswith(_GZIP_MAGIC)
    if codings[-1] in _ZSTDS:
        return content.startswith(_ZSTD_MAGIC)
    return not _is_text(content)


def _is_text(content: bytes) -> bool:
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(content[:4096])
    except UnicodeDecodeError:
        return False
    return _CONTROLS.search(text) is None


def _parts(content: bytes, coding: str) -> Iterator[bytes]:
    """Decode a body in steps.

    :raises _DamagedError: what follows cannot be decoded.
    """
    if coding == "br":
        return _brotli(content)
    return _zstd(content) if coding in _ZSTDS else _zlib(content, coding)


def _zlib(content: bytes, coding: str) -> Iterator[bytes]:
    bits = 31
    if coding == "deflate":
        bits = 15 if content[:1] == b"\x78" else -15
    at = 0
    while at < len(content):
        decoder = zlib.decompressobj(bits)
        try:
            while at < len(content) and not decoder.eof:
                # The decoder copies what it leaves, and a body may have a member of few bytes
                # after the other.
                given = content[at : at + _AT_ONCE]
                yield decoder.decompress(given, _STEP)
                at += len(given) - len(decoder.unconsumed_tail) - len(decoder.unused_data)
            yield decoder.flush()
        except zlib.error:
            raise _DamagedError from None
        if not content.startswith(_GZIP_MAGIC, at):
            break


def _brotli(content: bytes) -> Iterator[bytes]:
    brotli = import_module("brotli")
    decoder = brotli.Decompressor()
    try:
        while not decoder.is_finished():
            part = decoder.process(content, output_buffer_limit=_STEP)
            content = b""
            if not part and decoder.can_accept_more_data():
                break
            yield part
    except brotli.error:
        raise _DamagedError from None


def _zstd(content: bytes) -> Iterator[bytes]:
    zstandard = import_module("zstandard")
    decoder = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW)
    try:
        with decoder.stream_reader(io.BytesIO(content), read_across_frames=True) as reader:
            while part := reader.read(_STEP):
                yield part
    except zstandard.ZstdError:
        raise _DamagedError from None
