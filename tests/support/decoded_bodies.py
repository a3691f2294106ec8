"""Whole bodies, decoded at once as the forward proxy does in steps."""

from __future__ import annotations

from trafficmock.proxy.http1.content_codings import Decoded, decoding
from trafficmock.proxy.http1.heads import Pairs


def decoded(pairs: Pairs, content: bytes | bytearray, limit: int) -> Decoded | None:
    """Take all steps of :func:`~trafficmock.proxy.http1.content_codings.decoding`."""
    steps = decoding(pairs, content, limit)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Decoded | None = end.value
            return result
