"""Bodies as the history keeps them: one copy, in the JSON text that REST sends."""

import base64
import binascii
import codecs
from collections.abc import Iterator

from attrs import define
from msgspec import Raw

from trafficmock.history.records import BODY_HERE
from trafficmock.wire import body

CUT = b'null,"truncated":true'
"""What stands where a dropped body was: the mark is its neighbour in the JSON."""

_WINDOW = 64 * 1024  # base64 letters decoded at a time; a multiple of four


@define(eq=False)
class Body:
    """A body that is not empty.

    :param text: its JSON text, a quoted base64 string, or :data:`CUT` when it was dropped.
    :param size: its decoded bytes, also after it was dropped.
    """

    text: bytes
    size: int

    @property
    def truncated(self) -> bool:
        """Whether the byte budget took it."""
        return self.text is CUT

    def content(self) -> bytes:
        """Decode it; nothing when it was dropped."""
        return b"" if self.truncated else body.to_bytes(Raw(self.text))


def keep(raw: Raw) -> tuple[Raw, Body | None]:
    """Take a body out of a message.

    The copy is on purpose: a Raw is a view that keeps the whole message alive, which would
    make the accounting of bytes a lie.

    :returns: what stands in its place in a record, and the body, if there is one.
    """
    text = bytes(raw)
    own = Raw(text)
    if body.is_empty(own):
        return (body.NULL if text else body.ABSENT), None
    return BODY_HERE, Body(text, body.size(own))


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
            yield base64.b64decode(window, validate=True)
        except binascii.Error:
            # Junk shifts what follows, so the rest is read at once, as leniently as anywhere.
            rest = Raw(b'"' + bytes(letters[start:]) + b'"')
            yield body.to_bytes(rest)
            return
        if window[-1] == ord("="):
            return
