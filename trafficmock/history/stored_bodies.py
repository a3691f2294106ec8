"""Bodies as the history keeps them: one copy, in the JSON text that REST sends."""

import binascii
import codecs
from collections.abc import Iterator
from typing import Literal

import pybase64
from msgspec import UNSET, Raw, Struct

from trafficmock.history.rest_records import BODY_HERE
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

_NOTHING = b"null"
_UNKNOWN = -1

_WINDOW = 64 * 1024  # base64 letters decoded at a time; a multiple of four


class Body(Struct, eq=False):
    """A body that is not empty, as far as it is known.

    :param text: its JSON text: a quoted base64 string of all or of its beginning, or ``null``.
    :param true_size: its decoded bytes where ``text`` is not all of it; -1 when nobody knows.
    :param state: ``cut`` when ``text`` is not all of it, ``pending`` while it arrives.
    """

    text: bytes
    true_size: int | None = None
    state: Literal["whole", "cut", "pending"] = "whole"

    @property
    def size(self) -> int:
        """Its decoded bytes, also where they are not all kept; -1 when nobody knows."""
        # Counted when somebody asks: most bodies go before that.
        return body.size(Raw(self.text)) if self.true_size is None else self.true_size

    @property
    def truncated(self) -> bool:
        """Whether not all of it was kept."""
        return self.state == "cut"

    @property
    def is_kept(self) -> bool:
        return self.text is not _NOTHING

    @property
    def mark(self) -> bytes:
        """What stands beside it in the JSON of a request, response or overrides."""
        if self.state == "whole":
            return b""
        if self.state == "pending":
            return b',"bodyPending":true'
        size = b"" if self.size == _UNKNOWN else b',"bodySize":%d' % self.size
        return b',"truncated":true' + size

    def drop(self) -> None:
        """Let go of the text for the sake of the byte budget."""
        self.true_size = self.size
        self.text, self.state = _NOTHING, "cut"

    def content(self) -> bytes:
        return body.to_bytes(Raw(self.text))


def awaited() -> Body:
    """Make what stands for a body that has not arrived."""
    return Body(_NOTHING, _UNKNOWN, "pending")


def keep_of(holder: SerializedRequest | SerializedResponse) -> tuple[Raw, Body | None]:
    """Take the body out of a request or response, which may say that it is not all of it.

    :returns: as :func:`keep`.
    """
    mark, own = keep(holder.body_base64)
    if holder.truncated is not True:
        return mark, own
    if own is None:
        own = Body(_NOTHING, _UNKNOWN)
    own.state = "cut"
    if holder.body_size is not UNSET:
        own.true_size = max(own.size, holder.body_size)
    return BODY_HERE, own


def keep(raw: Raw) -> tuple[Raw, Body | None]:
    """Take a body out of a message.

    The copy is on purpose: a Raw is a view that keeps the whole message alive, which would
    make the accounting of bytes a lie.

    :returns: what stands in its place in a record, and the body, if there is one.
    """
    text = bytes(raw)
    if len(text) <= len(_NOTHING):
        return (body.NULL if text else body.ABSENT), None
    return BODY_HERE, Body(text)


def folded_windows(text: bytes, overlap: int) -> Iterator[str]:
    """Decode a body to case-folded text, a window at a time, so that a reader may pause.

    :param text: a quoted base64 string; bytes that are not UTF-8 become replacement signs.
    :param overlap: how many characters of a window the next one repeats.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    tail = ""
    for chunk in _decoded(text):
        window = tail + decoder.decode(chunk).casefold()
        yield window
        tail = window[-overlap:] if overlap else ""
    yield tail + decoder.decode(b"", final=True)


def _decoded(text: bytes) -> Iterator[bytes]:
    letters = memoryview(text)[1:-1]
    for start in range(0, len(letters), _WINDOW):
        window = letters[start : start + _WINDOW]
        try:
            yield pybase64.b64decode(window, validate=True)
        except binascii.Error:
            # Junk shifts what follows, so the rest is read at once, as leniently as anywhere.
            rest = Raw(b'"' + bytes(letters[start:]) + b'"')
            yield body.to_bytes(rest)
            return
        if window[-1] == ord("="):
            return
