"""Selects the header lines to forward (end-to-end, RFC 9110 section 7.6.1), and writes heads."""

from __future__ import annotations

from trafficmock.proxy.http1 import attached_clients
from trafficmock.proxy.http1.framing import BodyKind, Framing
from trafficmock.proxy.http1.heads import Head, Pairs, RequestHead, tokens

VIA = b"1.1 trafficmock"
"""The proxy's entry in ``Via`` (RFC 9110 section 7.6.3)."""

HOP_BY_HOP = attached_clients.HEADERS | frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authentication-info",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""Header names that are not forwarded: RFC 9110 section 7.6.1, and trafficmock's own."""

_OF_RESPONSES = HOP_BY_HOP - {b"trailer"}
_FRAMING = frozenset({b"content-length", b"transfer-encoding"})
_NO_TRAILERS = HOP_BY_HOP | _FRAMING | {b"host"}
_KEPT_THOUGH_LISTED = frozenset({b"content-length", b"host"})
"""Header names that ``Connection`` cannot remove, because that would change the message."""


def end_to_end(head: Head) -> Pairs:
    """Return the header lines to forward: all but the hop-by-hop ones.

    Trailers of a response are forwarded, and so is its ``Trailer``.
    """
    connection = head.fields.get(b"connection")
    hop_by_hop = HOP_BY_HOP if isinstance(head, RequestHead) else _OF_RESPONSES
    dropped = hop_by_hop
    if connection is not None:
        listed = tokens(connection) - {b"close", b"keep-alive"} - _KEPT_THOUGH_LISTED
        dropped = hop_by_hop | listed if listed else hop_by_hop
    if dropped.isdisjoint(head.fields):
        return head.pairs
    return [pair for pair in head.pairs if pair[0].lower() not in dropped]


def forwarded_trailers(trailers: Pairs) -> Pairs:
    """Return the trailer fields to forward: no framing or routing (RFC 9110 section 6.5.1)."""
    return [pair for pair in trailers if pair[0].lower() not in _NO_TRAILERS] if trailers else []


def request_block(method: bytes, path: bytes, host: bytes, pairs: Pairs, framing: Framing) -> bytes:
    """Write the head of a request to a server, with the proxy's entry in ``Via``.

    :param path: the request target: a path, or a URL for another proxy.
    :param host: the value of ``Host``, which is the first header line (RFC 9110 section 7.2).
    :param pairs: end-to-end header lines; those about length and host are ignored.
    :param framing: how the body will be sent.
    """
    lines = [b"%s %s HTTP/1.1\r\nhost: %s\r\n" % (method, path, host)]
    via = VIA
    for name, value in pairs:
        lower = name.lower()
        if lower == b"via":
            via = b"%s, %s" % (value, via)
        elif lower not in _FRAMING and lower != b"host":
            lines.append(b"%s: %s\r\n" % (name, value))
    lines.append(b"via: %s\r\n" % via)
    if framing.kind is BodyKind.CHUNKED:
        lines.append(b"transfer-encoding: chunked\r\n")
    elif framing.kind is BodyKind.LENGTH or method in {b"POST", b"PUT", b"PATCH"}:
        lines.append(b"content-length: %d\r\n" % framing.length)
    lines.append(b"\r\n")
    return b"".join(lines)


def response_block(
    status: int, reason: bytes, pairs: Pairs, *, chunked: bool, close: bool, via: bytes = VIA
) -> bytes:
    """Write the head of a response to the client.

    :param pairs: end-to-end header lines, ``Content-Length`` included.
    :param chunked: whether the body will be sent in chunks.
    :param close: whether the connection ends with the response.
    :param via: the proxy's entry in ``Via``; empty for none.
    """
    lines = [b"HTTP/1.1 %d %s\r\n" % (status, reason)]
    for name, value in pairs:
        if name.lower() == b"via":
            via = b"%s, %s" % (value, via)
        else:
            lines.append(b"%s: %s\r\n" % (name, value))
    if via:
        lines.append(b"via: %s\r\n" % via)
    if chunked:
        lines.append(b"transfer-encoding: chunked\r\n")
    if close:
        lines.append(b"connection: close\r\n")
    lines.append(b"\r\n")
    return b"".join(lines)


def expects_continue(head: RequestHead) -> bool:
    """Return whether the client waits for a 100 response (RFC 9110 section 10.1.1)."""
    return head.minor > 0 and head.lists(b"expect", b"100-continue")


def chunk(data: bytes) -> bytes:
    """Write one chunk of the chunked transfer coding."""
    return b"%x\r\n%s\r\n" % (len(data), data)


LAST_CHUNK = b"0\r\n\r\n"


def last_chunk(trailers: Pairs) -> bytes:
    """Write the end of a chunked body, with its trailer fields."""
    if not trailers:
        return LAST_CHUNK
    return b"0\r\n%s\r\n" % b"".join(b"%s: %s\r\n" % pair for pair in trailers)
