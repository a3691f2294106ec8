"""Reads the protocols that a client offers at the beginning of TLS (ALPN, RFC 7301)."""

from __future__ import annotations

LONGEST = 64 * 1024
"""Bytes of the longest ClientHello that is read; browsers send about 2000."""

_RECORD_HEAD = 5
_MESSAGE_HEAD = 4
_HANDSHAKE = 0x16
_CLIENT_HELLO = b"\x01"
_VERSION_AND_RANDOM = 34
_ALPN = 16


class _MalformedError(Exception):
    """The bytes are no ClientHello."""


class _Fields:
    """Takes fields from the beginning of bytes (RFC 8446 section 3)."""

    def __init__(self, data: bytes) -> None:
        self.rest = data

    def take(self, length: int) -> bytes:
        if len(self.rest) < length:
            raise _MalformedError
        taken, self.rest = self.rest[:length], self.rest[length:]
        return taken

    def number(self, length: int) -> int:
        return int.from_bytes(self.take(length), "big")

    def vector(self, length: int) -> bytes:
        """Take a field that begins with its length, a number of so many bytes."""
        return self.take(self.number(length))


def offered_protocols(data: bytes) -> tuple[bytes, ...] | None:
    """Return the protocols that a client offers.

    :param data: the first bytes of its TLS.
    :returns: none, if it does not use ALPN, or if the bytes are not a ClientHello; ``None`` if more
        bytes are needed.
    """
    try:
        message = _first_message(data)
        return None if message is None else _protocols(message)
    except _MalformedError:
        return ()


def _first_message(data: bytes) -> bytes | None:
    """Return the body of the first message; ``None`` if more bytes are needed.

    It may be in several records (RFC 8446 section 5.1).
    """
    message = b""
    while data:
        if data[0] != _HANDSHAKE:
            raise _MalformedError
        length = int.from_bytes(data[3:_RECORD_HEAD], "big")
        if len(data) < _RECORD_HEAD:
            return None
        if length == 0:
            raise _MalformedError
        message += data[_RECORD_HEAD : _RECORD_HEAD + length]
        data = data[_RECORD_HEAD + length :]
        end = _MESSAGE_HEAD + int.from_bytes(message[1:_MESSAGE_HEAD], "big")
        if message[:1] not in {b"", _CLIENT_HELLO} or end > LONGEST:
            raise _MalformedError
        if len(message) >= max(end, _MESSAGE_HEAD):
            return message[_MESSAGE_HEAD:end]
    return None


def _protocols(hello: bytes) -> tuple[bytes, ...]:
    fields = _Fields(hello)
    fields.take(_VERSION_AND_RANDOM)
    fields.vector(1)  # the session
    fields.vector(2)  # cipher suites
    fields.vector(1)  # compression
    if not fields.rest:
        return ()
    extensions = _Fields(fields.vector(2))
    while extensions.rest:
        kind, content = extensions.number(2), extensions.vector(2)
        if kind == _ALPN:
            names = _Fields(_Fields(content).vector(2))
            found = []
            while names.rest:
                found.append(names.vector(1))
            return tuple(found)
    return ()
