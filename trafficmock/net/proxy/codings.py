"""Content codings undone for people and tests; what goes to the client is never touched."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trafficmock.net.proxy.heads import Pairs

KNOWN = b"gzip, deflate"
"""The codings that are undone here, as a request asks for them."""

_GZIP, _ZLIB, _RAW = 31, 15, -15
_ABOUT_CONTENT = frozenset({b"content-encoding", b"content-length"})


def decoded(pairs: Pairs, content: bytes | bytearray, limit: int) -> tuple[Pairs, bytes] | None:
    """Undo the coding of a whole body.

    :param pairs: the header, which says how it is coded.
    :param limit: bytes that may come out, 0 for any number: a few coded ones can be very many.
    :returns: the header without it and the plain body; ``None`` when it is not coded, or
        not in a way that is known, or is too large.
    """
    coding = b", ".join(value for name, value in pairs if name.lower() == b"content-encoding")
    plain = bytes(content)
    for name in reversed([part.strip().lower() for part in coding.split(b",")]):
        undone = _undo(name, plain, limit)
        if undone is None:
            return None
        plain = undone
    kept = [pair for pair in pairs if pair[0].lower() not in _ABOUT_CONTENT]
    return [*kept, (b"content-length", b"%d" % len(plain))], plain


def _undo(coding: bytes, content: bytes, limit: int) -> bytes | None:
    if coding in {b"gzip", b"x-gzip"}:
        return _inflate(content, _GZIP, limit)
    if coding == b"deflate":
        plain = _inflate(content, _ZLIB, limit)
        return _inflate(content, _RAW, limit) if plain is None else plain
    return None


def _inflate(content: bytes, wbits: int, limit: int) -> bytes | None:
    """Undo one layer; several gzip members are one text (RFC 1952 section 2.2)."""
    plain: list[bytes] = []
    size = 0
    while content:
        engine = zlib.decompressobj(wbits)
        try:
            piece = engine.decompress(content, max(0, limit - size) + 1 if limit else 0)
        except zlib.error:
            return None
        plain.append(piece)
        size += len(piece)
        if not engine.eof or (limit and size > limit):
            return None
        content = engine.unused_data
    return b"".join(plain)
