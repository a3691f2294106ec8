"""Parses the heads of HTTP/1.1 messages strictly (RFC 9112).

Request smuggling uses messages that two parsers read differently. So the parser corrects
nothing in a request: a bare line feed, or white space that RFC 9112 does not allow is an error.

A response is written anew for the client. So what has one meaning to all clients that accept it is
read: folded lines become one line (section 5.2), white space before a colon is removed (section
5.1), a line may end by a line feed alone (section 2.2), and a value may have control characters
other than NUL and CR (RFC 9110 section 5.5).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from trafficmock.errors import TrafficMockError
from trafficmock.http.bounded_cache import cached_by_text
from trafficmock.wire.http_syntax import TCHAR
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_response import REDIRECTS

Pairs = list[tuple[bytes, bytes]]

END = b"\r\n\r\n"
MOST_FIELDS = 500
"""The most header lines that a head may have."""

_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_FORBIDDEN = re.compile(rb"\x00|\r(?!\n)")
"""What may be nowhere in the head of a response."""

_SPACE_BEFORE_COLON = re.compile(rb"(?m)^([^:\s]+)[ \t]+:")
_RESPONSE_END = re.compile(rb"\r?\n\r?\n")
_LONGEST_END = 4
_TOKEN = re.compile(f"{TCHAR}+".encode())
_TARGET = re.compile(rb"[\x21\x22\x24-\x7e]+")
_VERSION = re.compile(rb"HTTP/[0-9]\.[0-9]")
_MINORS = {b"HTTP/1.%d" % minor: minor for minor in range(10)}
"""The minor versions of HTTP/1; any of them is read as HTTP/1.1 or HTTP/1.0."""

_STATUS = re.compile(rb"HTTP/1\.([0-9]) ([1-9][0-9][0-9])(?: ([\t\x20-\x7e\x80-\xff]*))?")
_FOLD = re.compile(rb"[ \t]*\r\n[ \t]+")
_LONGEST_METHOD = 64


class BadMessageError(TrafficMockError):
    """A message is malformed, or needs a feature that the proxy does not have.

    :param text: the reason, for people.
    :param status: the status of the response to it.
    :param code: the ``error`` in the body of the response.
    :param headers: further header lines of the response.
    """

    def __init__(
        self,
        text: str,
        *,
        status: int = 400,
        code: str = "bad_request",
        headers: Iterable[tuple[bytes, bytes]] = (),
    ) -> None:
        super().__init__(text)
        self.text = text
        self.status = status
        self.code = code
        self.headers = tuple(headers)


class Head(Struct, frozen=True):
    """The start line and header fields of a message.

    :param minor: the minor version: 1 of HTTP/1.1.
    :param pairs: names and values of the header lines, in their order and case.
    :param fields: values by lower-case name; those of several lines are joined with ``, ``.
    """

    minor: int
    pairs: Pairs
    fields: dict[bytes, bytes]

    __repr__ = quiet_repr

    def lists(self, name: bytes, token: bytes) -> bool:
        """Return whether the list in header ``name`` has ``token``, which is in lower case."""
        value = self.fields.get(name)
        return value is not None and token in tokens(value)


class RequestHead(Head, frozen=True):
    """The request line and header of a request."""

    method: bytes
    target: bytes


class ResponseHead(Head, frozen=True):
    """The status line and header of a response."""

    status: int
    reason: bytes

    @property
    def redirect(self) -> str:
        """The ``Location`` of a redirect, as it is written; empty for other responses."""
        location = self.fields.get(b"location") if self.status in REDIRECTS else None
        return "" if location is None else location.decode("latin-1")


def parse_request(block: bytes) -> RequestHead:
    """Read the head of a request.

    :param block: the bytes before the empty line that ends the head.
    :raises BadMessageError: if it is malformed.
    """
    line, pairs, fields = _split(block)
    parts = line.split(b" ")
    if len(parts) != 3:  # noqa: PLR2004 - method, target, version
        raise BadMessageError(
            "The request line is not: method, one space, target, one space, HTTP/1.1."
        )
    method, target, version = parts
    if not _TOKEN.fullmatch(method) or len(method) > _LONGEST_METHOD:
        raise BadMessageError("The method is not a token.")
    if not _TARGET.fullmatch(target):
        raise BadMessageError("The request target is empty, has a fragment, or is not ASCII.")
    minor = _MINORS.get(version)
    if minor is None:
        raise _unknown(version)
    return RequestHead(minor, pairs, fields, method, target)


def parse_response(block: bytes) -> ResponseHead:
    """Read the head of a response.

    :param block: the bytes before the empty line that ends the head.
    :raises BadMessageError: if it is malformed.
    """
    line, pairs, fields = _split(_corrected(block), allows_controls=True)
    found = _STATUS.fullmatch(line)
    if found is None:
        raise BadMessageError(f"The status line is not one of HTTP/1.1: {line[:80]!r}.")
    return ResponseHead(int(found[1]), pairs, fields, int(found[2]), found[3] or b"")


def response_end(data: bytes, limit: int) -> tuple[int, int]:
    """Find the empty line that ends the head of a response.

    :param limit: the most bytes before it.
    :returns: where it begins, and where what follows does; -1 for both if it is not there.
    """
    found = _RESPONSE_END.search(data, 0, limit + _LONGEST_END)
    return (-1, -1) if found is None else found.span()


def parse_trailers(block: bytes) -> Pairs:
    """Read the trailer section of a chunked body (RFC 9112 section 7.1.2).

    :param block: its lines, without the empty line behind them.
    :returns: names and values of the lines, in their order and case.
    :raises BadMessageError: if it is malformed.
    """
    return _split(b"\r\n" + block)[1]


@cached_by_text(maxsize=512)
def tokens(value: bytes) -> frozenset[bytes]:
    """Read a list of tokens, in lower case (RFC 9110 section 5.6.1)."""
    return frozenset(part.strip(b" \t").lower() for part in value.split(b","))


def _unknown(version: bytes) -> BadMessageError:
    if _VERSION.fullmatch(version) is None:
        return BadMessageError("The version is not HTTP/1.1.")
    return BadMessageError(
        "Only HTTP/1.1 and HTTP/1.0 are spoken here.", status=505, code="version_not_supported"
    )


def _split(
    block: bytes, *, allows_controls: bool = False
) -> tuple[bytes, Pairs, dict[bytes, bytes]]:
    if not allows_controls and _CONTROLS.search(block):
        raise BadMessageError("There is a control character in the head.")
    lines = block.split(b"\r\n")
    if block.count(b"\n") != len(lines) - 1 or block.count(b"\r") != len(lines) - 1:
        raise BadMessageError("A line of the head ends without CR LF.")
    if len(lines) > MOST_FIELDS:
        raise BadMessageError(
            f"There are more than {MOST_FIELDS} header lines.", status=431, code="headers_too_large"
        )
    pairs: Pairs = []
    fields: dict[bytes, bytes] = {}
    repeats: dict[bytes, list[bytes]] = {}
    for line in lines[1:]:
        raw, colon, value = line.partition(b":")
        name = _name(raw) if colon else None
        if name is None:
            raise BadMessageError(_what_is_wrong(line))
        value = value.strip(b" \t")
        pairs.append((raw, value))
        if name in fields:
            repeats.setdefault(name, [fields[name]]).append(value)
        else:
            fields[name] = value
    for name, values in repeats.items():
        fields[name] = b", ".join(values)
    return lines[0], pairs, fields


def _corrected(block: bytes) -> bytes:
    """Write what clients tolerate in the head of a response in the form of RFC 9112.

    :raises BadMessageError: if clients might read it in different ways.
    """
    if _FORBIDDEN.search(block):
        raise BadMessageError("There is a control character in the head.")
    if block.count(b"\n") != block.count(b"\r\n"):
        block = block.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    line, end, rest = block.partition(b"\r\n")
    if b"\r\n " in block or b"\r\n\t" in block:
        rest = _FOLD.sub(b" ", rest)
    if b" :" in rest or b"\t:" in rest:
        rest = _SPACE_BEFORE_COLON.sub(rb"\1:", rest)
    return line + end + rest


@cached_by_text(maxsize=1024)
def _name(raw: bytes) -> bytes | None:
    return raw.lower() if _TOKEN.fullmatch(raw) else None


def _what_is_wrong(line: bytes) -> str:
    if line[:1] in {b" ", b"\t"}:
        return "A header line is folded, which HTTP/1.1 no longer allows (RFC 9112 section 5.2)."
    if b":" not in line:
        return "A header line has no colon."
    if line.partition(b":")[0].rstrip(b" \t") != line.partition(b":")[0]:
        return "There is white space before the colon of a header line (RFC 9112 section 5.1)."
    return "A header name is not a token."
