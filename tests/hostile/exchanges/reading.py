"""Strict readers of HTTP/1.1, sharing nothing with the proxy: of what it sends either way."""

import re
from collections.abc import Iterator

from attrs import frozen

_END = b"\r\n\r\n"
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\r\n\0]*?)[ \t]*")
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2}) ?[^\r\n\0]*")
_REQUEST = re.compile(rb"([^ \r\n\0]+) ([^ \r\n\0]+) HTTP/1\.1")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})\r\n")


class UnreadableError(Exception):
    """The proxy sent what is not HTTP."""


class IncompleteError(Exception):
    """It ends before its end."""


@frozen
class Message:
    """
    A request or an answer.

    :param first: the groups of its first line.
    :param fields: in order, names in lower case.
    :param body: without its framing.
    :param whole: whether it came to its end.
    """

    first: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    body: bytes
    whole: bool = True

    def field(self, name: str) -> str | None:
        """Give the values of a field, joined with ``|``."""
        values = [value for key, value in self.fields if key == name]
        return "|".join(values) if values else None


def requests(data: bytes) -> tuple[list[Message], bytes]:
    """
    Read the requests at the beginning of ``data``.

    :returns: those that are whole, and what is left.
    :raises UnreadableError: for anything that strict readers refuse.
    """
    found = []
    while data:
        try:
            message, data = _request(data)
        except IncompleteError:
            break
        found.append(message)
    return found, data


def answers(data: bytes, methods: Iterator[str]) -> list[Message]:
    """
    Read all answers in ``data``, of a connection that has ended.

    :param methods: of the requests, which an answer cannot be read without.
    :raises UnreadableError: for anything that strict readers refuse.
    """
    found = []
    method = next(methods, "GET")
    while data:
        message, data = _answer(data, method)
        found.append(message)
        if int(message.first[0]) >= 200:
            method = next(methods, "GET")
    return found


def _request(data: bytes) -> tuple[Message, bytes]:
    first, fields, rest = _head(data, _REQUEST)
    body, rest = _body(fields, rest, without=b"")
    return Message(first, fields, body), rest


def _answer(data: bytes, method: str) -> tuple[Message, bytes]:
    try:
        first, fields, rest = _head(data, _STATUS)
    except IncompleteError:
        raise UnreadableError(f"half a head: {data[:200]!r}") from None
    status = int(first[0])
    if status < 200 or status in {204, 304} or method == "HEAD":
        return Message(first, fields, b""), rest
    if method == "CONNECT" and status < 300:
        return Message(first, fields, b""), rest
    try:
        body, rest = _body(fields, rest, without=rest)
    except IncompleteError:
        return Message(first, fields, rest, whole=False), b""
    return Message(first, fields, body), rest


def _head(
    data: bytes, line: re.Pattern[bytes]
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...], bytes]:
    head, end, rest = data.partition(_END)
    if not end:
        raise IncompleteError
    first, *lines = head.split(b"\r\n")
    found = line.fullmatch(first)
    pairs = [_FIELD.fullmatch(one) for one in lines]
    if found is None or None in pairs:
        raise UnreadableError(f"no head: {head[:300]!r}")
    fields = tuple((p[1].decode("ascii").lower(), p[2].decode("latin-1")) for p in pairs if p)
    return tuple(group.decode("latin-1") for group in found.groups()), fields, rest


def _body(
    fields: tuple[tuple[str, str], ...], data: bytes, *, without: bytes
) -> tuple[bytes, bytes]:
    """Take a body; ``without`` is what there is without any framing."""
    lengths = [value for name, value in fields if name == "content-length"]
    codings = [value for name, value in fields if name == "transfer-encoding"]
    if codings and (codings != ["chunked"] or lengths):
        raise UnreadableError(f"{codings} with {lengths}")
    if codings:
        return _chunks(data)
    if not lengths:
        return without, data[len(without) :]
    if len(lengths) > 1 or not re.fullmatch("[0-9]{1,15}", lengths[0]):
        raise UnreadableError(f"lengths {lengths}")
    length = int(lengths[0])
    if len(data) < length:
        raise IncompleteError
    return data[:length], data[length:]


def _chunks(data: bytes) -> tuple[bytes, bytes]:
    body = b""
    while True:
        if b"\r\n" not in data:
            raise IncompleteError
        found = _SIZE.match(data)
        if found is None:
            raise UnreadableError(f"no chunk: {data[:60]!r}")
        size, data = int(found[1], 16), data[found.end() :]
        if size == 0 and not data.startswith(b"\r\n"):
            return body, _trailers(data)
        if len(data) < size + 2:
            raise IncompleteError
        if data[size : size + 2] != b"\r\n":
            raise UnreadableError(f"no end of a chunk: {data[size : size + 60]!r}")
        body, data = body + data[:size], data[size + 2 :]
        if size == 0:
            return body, data


def _trailers(data: bytes) -> bytes:
    """Check the fields behind a body, and return what follows them."""
    lines, end, rest = data.partition(_END)
    if not end:
        raise IncompleteError
    for line in lines.split(b"\r\n"):
        found = _FIELD.fullmatch(line)
        # No framing (RFC 9110 section 6.5.1).
        if found is None or found[1].lower() in {b"content-length", b"transfer-encoding"}:
            raise UnreadableError(f"no trailer: {line[:60]!r}")
    return rest
