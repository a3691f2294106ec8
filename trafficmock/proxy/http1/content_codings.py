"""Content codings undone for people and tests; what goes to the client is never touched.

A server decides what is decoded here, so the work is in proportion to the bytes that go in
and come out, whatever they say, and it can be done in steps.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

    from trafficmock.proxy.http1.heads import Pairs

    Decoded = tuple[Pairs, bytes]
    """The header without the coding, and the plain body."""

KNOWN = b"gzip, deflate"
"""The codings that are undone here, as a request asks for them."""

MOST_CODINGS = 5
"""Codings one within the other that are undone; a body with more stays as it is."""

STEP = 16 * 1024
"""Coded bytes that are decoded in one step, at most."""

_STEP_OUT = 8 * STEP
_MEMBER_WORK = 512
"""What beginning a member costs, as if it had so many bytes more."""

_FIRST_SLICE = 64
_GZIP, _ZLIB, _RAW = 31, 15, -15
_GZIPS = frozenset({b"gzip", b"x-gzip"})
_ABOUT_CONTENT = frozenset({b"content-encoding", b"content-length"})


def is_coded(pairs: Pairs) -> bool:
    """Tell whether a header says that its body is coded."""
    return any(name.lower() == b"content-encoding" for name, _ in pairs)


def begins_coded(pairs: Pairs, content: bytes) -> bool:
    """Tell whether a body is coded as its header says, by its first bytes.

    :param pairs: the header; several codings are told by the last, which is undone first.
    :returns: also true for codings that are not known here.
    """
    value = b",".join(value for name, value in pairs if name.lower() == b"content-encoding")
    coding = value.rpartition(b",")[2].strip().lower()
    if coding in _GZIPS:
        return _begins(content, _GZIP, whole=False)
    if coding == b"deflate":
        return _begins(content, _ZLIB, whole=False) or _begins(content, _RAW, whole=True)
    return True


def _begins(content: bytes, wbits: int, *, whole: bool) -> bool:
    """Try to decode the beginning.

    :param whole: the end must be found where it is not further away than :data:`STEP`: raw
        deflate begins with nothing by which it is known.
    """
    engine = zlib.decompressobj(wbits)
    try:
        engine.decompress(content[:STEP], _STEP_OUT)
    except zlib.error:
        return False
    return engine.eof or not whole or len(content) > STEP or bool(engine.unconsumed_tail)


def decoded(pairs: Pairs, content: bytes | bytearray, limit: int) -> Decoded | None:
    """Undo the coding of a whole body at once; see :func:`decoding`."""
    steps = decoding(pairs, content, limit)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Decoded | None = end.value
            return result


def decoding(
    pairs: Pairs, content: bytes | bytearray, limit: int
) -> Generator[None, None, Decoded | None]:
    """Undo the coding of a whole body, step by step, each a few milliseconds long at most.

    :param pairs: the header, which says how it is coded.
    :param limit: bytes that may come out, 0 for any number: a few coded ones can be very many.
    :returns: the header without it and the plain body; ``None`` when it is not coded, or
        not in a way that is known, or is too large.
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
    """Undo one layer; several gzip members are one text (RFC 1952 section 2.2).

    What lies behind the end of a member is copied by zlib, so a member is given slices
    that begin small and double: the copy is then never larger than the member.
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
