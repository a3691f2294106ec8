"""Readers that extract a message body from a stream, piece by piece, without buffering it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from trafficmock.proxy.http1.framing import BodyKind, Framing
from trafficmock.proxy.http1.heads import BadMessageError, Pairs, parse_trailers
from trafficmock.wire.http_syntax import TCHAR

_SIZE = re.compile(
    rb"([0-9A-Fa-f]{1,15})"
    rb"(?:[ \t]*;[ \t]*%(token)s+"
    rb"(?:[ \t]*=[ \t]*(?:%(token)s+"
    rb"|\"(?:[^\"\\\x00-\x08\x0a-\x1f\x7f]|\\[^\x00-\x08\x0a-\x1f\x7f])*\"))?)*"
    % {b"token": TCHAR.encode()}
)
_LINE_BREAK = re.compile(rb"[\r\n]")
_LONGEST_SIZE_LINE = 1024
_LONGEST_TRAILERS = 16 * 1024


class BodyReader(Protocol):
    """Extracts one body from a stream."""

    done: bool
    """Whether the body is complete; further bytes are of another message."""

    trailers: Pairs
    """The trailer fields behind a complete body (RFC 9110 section 6.5)."""

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Read received bytes.

        :returns: the content in them, and the bytes behind the end of the body.
        :raises BadMessageError: if the framing is malformed.
        """


class LengthReader:
    """Reads a body with ``Content-Length``."""

    __slots__ = ("done", "left", "trailers")

    def __init__(self, length: int) -> None:
        self.left = length
        self.trailers: Pairs = []
        self.done = length == 0

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Read received bytes; see :class:`BodyReader`."""
        if len(data) < self.left:
            self.left -= len(data)
            return data, b""
        content, rest = (
            (data, b"") if len(data) == self.left else (data[: self.left], data[self.left :])
        )
        self.left = 0
        self.done = True
        return content, rest


class RestReader:
    """Reads a body without a length, which ends with the connection."""

    __slots__ = ("done", "trailers")

    def __init__(self) -> None:
        self.done = False
        self.trailers: Pairs = []

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Read received bytes; see :class:`BodyReader`."""
        return data, b""


class ChunkReader:
    """Decodes the chunked transfer coding (RFC 9112 section 7.1).

    It keeps an index into the received bytes instead of cutting off each chunk, because a body of
    tiny chunks would otherwise cost a copy of all bytes behind each chunk.
    """

    __slots__ = ("_at", "_buffer", "_left", "_of_server", "_step", "done", "trailers")

    def __init__(self, *, of_server: bool = False) -> None:
        self.done = False
        self.trailers: Pairs = []
        self._of_server = of_server
        self._buffer = b""
        self._at = 0
        self._left = 0
        self._step: Callable[[list[bytes]], bool] = self._size

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Read received bytes; see :class:`BodyReader`."""
        self._buffer = self._buffer + data if self._buffer else data
        content: list[bytes] = []
        while self._step(content):
            pass
        rest, self._buffer, self._at = self._buffer[self._at :], b"", 0
        if not self.done:
            self._buffer, rest = rest, b""
        return content[0] if len(content) == 1 else b"".join(content), rest

    def _size(self, _: list[bytes]) -> bool:
        buffer, at = self._buffer, self._at
        end = buffer.find(b"\r\n", at, at + _LONGEST_SIZE_LINE)
        line = buffer[at : at + _LONGEST_SIZE_LINE] if end < 0 else buffer[at:end]
        if (
            end < 0
            and len(line) < _LONGEST_SIZE_LINE
            and not _LINE_BREAK.search(line[:-1])
            and line[-1:] != b"\n"
        ):
            return False
        # Servers pad sizes. Of what clients send so, two readers could make different requests.
        size = (
            None if end < 0 else _SIZE.fullmatch(line.rstrip(b" \t") if self._of_server else line)
        )
        if size is None:
            raise BadMessageError(
                f"A chunk does not begin with its size in hexadecimal and CR LF: {line[:40]!r}."
            )
        self._at = end + 2
        self._left = int(size[1], 16)
        self._step = self._content if self._left else self._trailers
        return True

    def _content(self, content: list[bytes]) -> bool:
        end = min(self._at + self._left, len(self._buffer))
        if end > self._at:
            content.append(self._buffer[self._at : end])
        self._left -= end - self._at
        self._at = end
        if self._left:
            return False
        self._step = self._line_end
        return True

    def _line_end(self, _: list[bytes]) -> bool:
        found = self._buffer[self._at : self._at + 2]
        if found == b"\r\n":
            self._at += 2
            self._step = self._size
            return True
        if found not in {b"", b"\r"}:
            raise BadMessageError("A chunk is longer than its size says.")
        return False

    def _trailers(self, _: list[bytes]) -> bool:
        if self._buffer.startswith(b"\r\n", self._at):
            self._at += 2
            self.done = True
            return False
        end = self._buffer.find(b"\r\n\r\n", self._at)
        if end < 0:
            if len(self._buffer) - self._at > _LONGEST_TRAILERS:
                raise BadMessageError("The trailers are too long.")
            return False
        self.trailers = parse_trailers(self._buffer[self._at : end])
        self._at = end + 4
        self.done = True
        return False


def reader(framing: Framing, *, of_server: bool = False) -> BodyReader:
    """Make the reader of a body.

    :param of_server: whether it is that of an answer.
    """
    match framing.kind:
        case BodyKind.NONE:
            return LengthReader(0)
        case BodyKind.LENGTH:
            return LengthReader(framing.length)
        case BodyKind.CHUNKED:
            return ChunkReader(of_server=of_server)
        case BodyKind.UNTIL_CLOSE:
            return RestReader()
