"""Decodes content codings in the copies for tests and the history; clients get the coded body.

The bytes come from any server, so the work is linear in the bytes that go in and come out,
whatever they contain, and it can be done in steps.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator

from trafficmock.proxy.http1.heads import Pairs

Decoded = tuple[Pairs, bytes]
"""The header without ``Content-Encoding``, and the decoded body."""

KNOWN = b"gzip, deflate"
"""The value of ``Accept-Encoding`` for the codings that can be decoded."""

MOST_CODINGS = 5
"""Nested codings that are decoded; a body with more stays coded."""

STEP = 16 * 1024
"""Coded bytes that are decoded in one step, at most."""

_STEP_OUT = 8 * STEP
_MEMBER_WORK = 512
"""The work of beginning a gzip member, as a number of coded bytes."""

_FIRST_SLICE = 64
_GZIP, _ZLIB, _RAW = 31, 15, -15
_GZIPS = frozenset({b"gzip", b"x-gzip"})
_ABOUT_CONTENT = frozenset({b"content-encoding", b"content-length"})


def is_coded(pairs: Pairs) -> bool:
    """Return whether a header has a ``Content-Encoding``."""
    return any(name.lower() == b"content-encoding" for name, _ in pairs)


def decoding(
    pairs: Pairs, content: bytes | bytearray, limit: int
) -> Generator[None, None, Decoded | None]:
    """Decode a whole body in steps of a few milliseconds at most, one for each ``next``.

    :param pairs: the header, with the codings.
    :param limit: bytes of the largest decoded body, 0 for no limit. Few coded bytes can be
        decoded to very many.
    :returns: the header without the coding, and the decoded body; ``None`` if the body is not
        coded, in an unknown or malformed coding, or too large.
    """
    value = b", ".join(value for name, value in pairs if name.lower() == b"content-encoding")
    codings = [part.strip().lower() for part in value.split(b",")]
    if len(codings) > MOST_CODINGS:
        return None
    plain = bytes(content)
    for coding in reversed(codings):
        undone = yield from _undo(coding, plain, limit)
        if undone is None:
            return None
        plain = undone
    kept = [pair for pair in pairs if pair[0].lower() not in _ABOUT_CONTENT]
    return [*kept, (b"content-length", b"%d" % len(plain))], plain


def _undo(coding: bytes, content: bytes, limit: int) -> Generator[None, None, bytes | None]:
    if coding in _GZIPS:
        return (yield from _inflate(content, _GZIP, limit))
    if coding == b"deflate":
        plain = yield from _inflate(content, _ZLIB, limit)
        return (yield from _inflate(content, _RAW, limit)) if plain is None else plain
    return None


def _inflate(content: bytes, wbits: int, limit: int) -> Generator[None, None, bytes | None]:
    """Decode one coding; several gzip members are one body (RFC 1952 section 2.2).

    zlib copies the bytes behind the end of a member. So it gets slices that begin small and
    double in size, and the copy is never larger than the member.
    """
    coded = memoryview(content)
    plain: list[bytes] = []
    at = size = work = 0
    while at < len(coded):
        engine = zlib.decompressobj(wbits)
        work += _MEMBER_WORK
        length = _FIRST_SLICE
        while not engine.eof:
            piece: bytes | memoryview = engine.unconsumed_tail
            if not piece:
                piece = coded[at : at + length]
                at += len(piece)
                length = min(2 * length, STEP)
            try:
                out = engine.decompress(piece, _STEP_OUT)
            except zlib.error:
                return None
            if out:
                plain.append(out)
                size += len(out)
            elif not piece:
                return None
            if limit and size > limit:
                return None
            work += len(piece) + len(out) // 8
            if work >= STEP:
                work = 0
                yield
        at -= len(engine.unused_data)
    return b"".join(plain)
