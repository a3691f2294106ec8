"""What the history keeps of a request or response: its head, and apart from it the body.

There is one copy of each body, base64 as it came or bytes. The characters of the head are its
weight.
"""

import binascii
import codecs
from collections.abc import Iterator
from typing import Literal

import pybase64
from msgspec import UNSET, Raw, Struct, UnsetType

from trafficmock.history.rest_records import BODY_HERE
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_request import HeaderPairs, SerializedRequest

_NOTHING = b"null"
_UNKNOWN = -1

_WINDOW = 64 * 1024  # base64 letters, or bytes, that are decoded at a time; a multiple of four


class Body(Struct, eq=False):
    """A body that is not empty, or of which nothing is known yet.

    :param stored: the body or its beginning: JSON text, or the bytes themselves; ``null`` for none.
    :param true_size: the bytes of the whole body where ``stored`` is not all of it; -1 if unknown.
    :param state: ``cut`` if ``stored`` is not the whole body, ``pending`` while the body arrives.
    :param is_text: ``stored`` is JSON text, a quoted base64 string or ``null``.
    :param is_kept: ``stored`` is something.
    """

    stored: bytes
    true_size: int | None = None
    state: Literal["whole", "cut", "pending"] = "whole"
    is_text: bool = True
    is_kept: bool = True

    __repr__ = quiet_repr

    @property
    def size(self) -> int:
        """The bytes of the whole body, also if only a part is kept; -1 if unknown."""
        # Counted when it is read: most bodies are dropped before that.
        return body.size(self.kept) if self.true_size is None else self.true_size

    @property
    def kept(self) -> body.MessageBody:
        """The body or its beginning, as messages have it."""
        return Raw(self.stored) if self.is_text else self.stored

    @property
    def truncated(self) -> bool:
        """Whether only a part of the body is kept, or nothing."""
        return self.state == "cut"

    @property
    def mark(self) -> bytes:
        """The keys that follow the body in the JSON of a request, response or overrides."""
        if self.state == "whole":
            return b""
        if self.state == "pending":
            return b',"bodyPending":true'
        size = b"" if self.size == _UNKNOWN else b',"bodySize":%d' % self.size
        return b',"truncated":true' + size

    def drop(self) -> None:
        """Drop the content of the body, and mark the body as truncated."""
        self.true_size = self.size
        self.stored, self.state, self.is_text, self.is_kept = _NOTHING, "cut", True, False

    def text(self) -> bytes:
        """Return the JSON text of the part that is kept: base64 in quotes, or ``null``."""
        return self.stored if self.is_text else body.to_text(self.stored)

    def content(self) -> bytes:
        return body.to_bytes(self.kept)


def awaited() -> Body:
    """Make the placeholder of a body that has not arrived."""
    return Body(_NOTHING, _UNKNOWN, "pending", is_kept=False)


def without_body(request: SerializedRequest) -> tuple[SerializedRequest, Body | None]:
    """Return the head and the body of a request.

    The body is a copy, so that the memory of the request's message can be freed.
    """
    raw, own = keep(request.body_base64, request.truncated, request.body_size)
    head = SerializedRequest(
        request.url, request.method, request.headers, raw, request.headers_list
    )
    return head, own


def header_weight(headers: dict[str, str], pairs: HeaderPairs | UnsetType = UNSET) -> int:
    """Return the number of characters of headers."""
    # Joining takes a tenth of the time of a sum of lengths.
    count = len("".join(headers)) + len("".join(headers.values()))
    if pairs is not UNSET:
        count += sum(len(name) + len(value) for name, value in pairs)
    return count


def keep(
    given: body.MessageBody,
    truncated: bool | UnsetType = UNSET,  # noqa: FBT001 - as messages have it
    size: int | UnsetType = UNSET,
) -> tuple[body.MessageBody, Body | None]:
    """Keep the body of a message.

    A ``Raw`` is copied: it is a view that keeps the whole message alive, which the byte budget
    would not count.

    :param truncated: whether ``given`` is marked as the beginning of the body.
    :param size: the bytes of the whole body, if the message tells.
    :returns: the placeholder for the record, and the body, if there is one.
    """
    if isinstance(given, bytes):
        own = Body(given, is_text=False)
    else:
        text = bytes(given)
        if len(text) > len(_NOTHING):
            own = Body(text)
        elif truncated is True:
            own = Body(_NOTHING, _UNKNOWN, is_kept=False)
        else:
            return (body.NULL if text else body.ABSENT), None
    if truncated is True:
        own.state = "cut"
        if size is not UNSET:
            own.true_size = max(own.size, size)
    return BODY_HERE, own


def folded_windows(content: body.MessageBody, overlap: int) -> Iterator[str]:
    """Yield a body as case-folded text in windows, so that a reader can pause.

    :param content: the body; bytes that are not UTF-8 become replacement characters.
    :param overlap: characters that a window repeats of the one before.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    tail = ""
    for chunk in _decoded(content):
        window = tail + decoder.decode(chunk).casefold()
        yield window
        tail = window[-overlap:] if overlap else ""
    yield tail + decoder.decode(b"", final=True)


def _decoded(content: body.MessageBody) -> Iterator[bytes | memoryview]:
    if isinstance(content, bytes):
        for start in range(0, len(content), _WINDOW):
            yield memoryview(content)[start : start + _WINDOW]
        return
    letters = memoryview(content)[1:-1]
    for start in range(0, len(letters), _WINDOW):
        window = letters[start : start + _WINDOW]
        try:
            yield pybase64.b64decode(window, validate=True)
        except binascii.Error:
            # Invalid characters shift the groups of four, so the rest is decoded at once.
            rest = Raw(b'"' + bytes(letters[start:]) + b'"')
            yield body.to_bytes(rest)
            return
        if window[-1] == ord("="):
            return
