"""Tells whether the body of a mock certainly is not in the coding that its header names.

Handlers get decoded bodies, and may pass the ``content-encoding`` of the real response on: a client
would fail to decode such a body.
"""

from __future__ import annotations

import codecs
import re
import zlib

_MOST_READ = 16 * 1024
"""Bytes of the body that are read, at most."""

_MOST_OUT = 8 * _MOST_READ
_GZIP, _ZLIB, _RAW = 31, 15, -15
_GZIPS = frozenset({"gzip", "x-gzip"})
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
"""The beginnings of frames (RFC 8878 sections 3.1.1 and 3.1.2)."""
_ZSTDS = frozenset({"zstd", "zst"})
_NO_TEXT = re.compile(r"[\0-\x08\x0e-\x1f\x7f]")


def is_plain(content: bytes, coding: str) -> bool:
    """Return whether a body certainly is not coded as its header says.

    gzip and deflate are decoded, zstd begins with a magic number. Brotli has none, and other
    codings are unknown: there a text is taken for plain, and any other body for coded.

    :param content: a body of at least one byte.
    :param coding: the value of ``content-encoding``. Of several codings the last one is judged,
        because it is the outermost.
    """
    codings = [name for each in coding.lower().split(",") if (name := each.strip())]
    codings = [name for name in codings if name != "identity"]
    if not codings:
        return False
    if codings[-1] in _GZIPS:
        return not _begins(content, _GZIP, whole=False)
    if codings[-1] == "deflate":
        # Servers send both the zlib format and raw deflate by this name.
        return not (_begins(content, _ZLIB, whole=False) or _begins(content, _RAW, whole=True))
    if codings[-1] in _ZSTDS:
        return _ZSTD.match(content) is None
    return _is_text(content)


def _begins(content: bytes, wbits: int, *, whole: bool) -> bool:
    """Return whether zlib decodes the beginning.

    :param whole: whether a body of up to :data:`_MOST_READ` bytes must also end properly: raw
        deflate has no magic number, so many texts are a valid beginning of it.
    """
    engine = zlib.decompressobj(wbits)
    try:
        engine.decompress(content[:_MOST_READ], _MOST_OUT)
    except zlib.error:
        return False
    return engine.eof or not whole or len(content) > _MOST_READ or bool(engine.unconsumed_tail)


def _is_text(content: bytes) -> bool:
    """Return whether a body begins with UTF-8 without control characters."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(content[:_MOST_READ], final=len(content) <= _MOST_READ)
    except UnicodeDecodeError:
        return False
    return _NO_TEXT.search(text) is None
