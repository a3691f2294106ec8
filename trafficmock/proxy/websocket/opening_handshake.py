"""The opening handshake of WebSockets over HTTP/1.1, from both sides (RFC 6455 section 4)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets

from attrs import field, frozen

from trafficmock.proxy.http1.forwarded_headers import end_to_end
from trafficmock.proxy.http1.heads import BadMessageError, Pairs, RequestHead, ResponseHead, tokens

_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_KEY_BYTES = 16
_SWITCHING = 101
_OF_ONE_HANDSHAKE = frozenset(
    {
        b"host",
        b"sec-websocket-key",
        b"sec-websocket-version",
        b"sec-websocket-extensions",
        b"sec-websocket-protocol",
        b"sec-websocket-accept",
    }
)


@frozen
class ClientHandshake:
    """The client's side of a handshake.

    :param key: ``Sec-WebSocket-Key``, in base64.
    :param protocols: the subprotocols that it offers, in its order of preference.
    """

    key: bytes = field(repr=False)
    protocols: list[str]


def is_opening(head: RequestHead) -> bool:
    """Return whether a request is the opening handshake of a WebSocket."""
    return (
        head.method == b"GET"
        and head.minor > 0
        and head.lists(b"upgrade", b"websocket")
        and head.lists(b"connection", b"upgrade")
    )


def read_opening(head: RequestHead) -> ClientHandshake:
    """Read a client's side of the handshake.

    :raises BadMessageError: if its version is not 13, or its key is malformed.
    """
    version = head.fields.get(b"sec-websocket-version")
    if version != b"13":
        raise BadMessageError(
            "Only version 13 of WebSockets is known.",
            status=426,
            code="upgrade_required",
            headers=[(b"sec-websocket-version", b"13"), (b"upgrade", b"websocket")],
        )
    key = head.fields.get(b"sec-websocket-key", b"")
    try:
        decoded = base64.b64decode(key, validate=True)
    except binascii.Error:
        decoded = b""
    if len(decoded) != _KEY_BYTES:
        raise BadMessageError("Sec-WebSocket-Key is not 16 bytes in base64.")
    listed = head.fields.get(b"sec-websocket-protocol", b"").decode("latin-1")
    return ClientHandshake(key, [part.strip() for part in listed.split(",") if part.strip()])


def acceptance(key: bytes, protocol: str | None) -> bytes:
    """Write the response 101 that opens a WebSocket.

    :param key: the client's ``Sec-WebSocket-Key``.
    :param protocol: the chosen subprotocol; ``None`` for none.
    """
    chosen = (
        b"" if protocol is None else b"sec-websocket-protocol: %s\r\n" % protocol.encode("latin-1")
    )
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
        b"sec-websocket-accept: %s\r\n%s\r\n"
    ) % (_accept(key), chosen)


def new_key() -> bytes:
    return base64.b64encode(secrets.token_bytes(_KEY_BYTES))


def opening_pairs(head: RequestHead, key: bytes, opening: ClientHandshake) -> Pairs:
    """Return the header of the proxy's own handshake with a server, without extensions.

    :param head: the client's handshake, whose other header lines are sent, too.
    :param key: see :func:`new_key`.
    """
    pairs = [pair for pair in end_to_end(head) if pair[0].lower() not in _OF_ONE_HANDSHAKE]
    pairs += [
        (b"Upgrade", b"websocket"),
        (b"Connection", b"Upgrade"),
        (b"Sec-WebSocket-Version", b"13"),
        (b"Sec-WebSocket-Key", key),
    ]
    if opening.protocols:
        pairs.append((b"Sec-WebSocket-Protocol", ", ".join(opening.protocols).encode("latin-1")))
    return pairs


def relayed_pairs(head: RequestHead | ResponseHead) -> Pairs:
    """Return the header of a handshake or its response that is forwarded, extensions included."""
    return [
        *(pair for pair in end_to_end(head) if pair[0].lower() != b"host"),
        (b"Upgrade", b"websocket"),
        (b"Connection", b"Upgrade"),
    ]


def accepted_protocol(head: ResponseHead, key: bytes, opening: ClientHandshake) -> str | None:
    """Read a server's response to the proxy's own handshake.

    :param key: the key of that handshake.
    :returns: the subprotocol that the server chose; ``None`` for none.
    :raises BadMessageError: if the server refused, or its response is invalid.
    """
    if head.status != _SWITCHING:
        reason = head.reason.decode("latin-1")
        raise BadMessageError(f"the WebSocket was refused with {head.status} {reason}".rstrip())
    upgraded = head.lists(b"upgrade", b"websocket") and head.lists(b"connection", b"upgrade")
    if not upgraded or head.fields.get(b"sec-websocket-accept") != _accept(key):
        raise BadMessageError("its answer does not open the WebSocket that was asked for")
    if tokens(head.fields.get(b"sec-websocket-extensions", b"")) - {b""}:
        raise BadMessageError("it chose an extension that was not offered")
    chosen = head.fields.get(b"sec-websocket-protocol")
    if chosen is None:
        return None
    protocol = chosen.decode("latin-1")
    if protocol not in opening.protocols:
        raise BadMessageError("it chose a subprotocol that was not offered")
    return protocol


def _accept(key: bytes) -> bytes:
    return base64.b64encode(hashlib.sha1(key + _MAGIC).digest())  # noqa: S324 - RFC 6455 says so
