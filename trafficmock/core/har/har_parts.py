"""The entries of a HAR, as far as a replay depends on them."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta, Struct

from trafficmock.wire.payloads.quiet_repr import quiet_repr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.wire.payloads.serialized_request import HeaderPairs

MOST_PIECES = 100_000
"""The most pieces of a response."""

STALLED = -1
"""The status of an entry whose request got no response; browsers write 0 for it."""

_FAULT = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<field>.*)`)?", re.DOTALL)


class HarEntryError(ValueError):
    """An entry cannot be replayed.

    The message has the field and the reason, but no value of the entry: it may be a secret.
    """


class _Header(Struct):
    name: str
    value: str | int | float | bool | None

    __repr__ = quiet_repr


class HarContent(Struct):
    """A body of an entry."""

    text: str | None = None
    encoding: str | None = None
    unreadable: str | None = None

    __repr__ = quiet_repr

    def read(self, field: str) -> bytes:
        """Return the body.

        :param field: the place of this body in its entry, for messages.
        :raises HarEntryError: it is not base64, or was in a file that the worker could not read.
        """
        if self.unreadable:
            raise HarEntryError(self.unreadable)
        text = self.text or ""
        if self.encoding != "base64":
            return text.encode()
        try:
            return base64.b64decode(text)
        except ValueError:
            raise HarEntryError(f"{field}.text: it is not base64") from None


_NOTHING = HarContent()


class HarRequest(Struct):
    """The request of an entry."""

    method: str
    url: str
    headers: list[_Header] | None = None
    post_data: HarContent | None = msgspec.field(default=None, name="postData")

    __repr__ = quiet_repr

    @property
    def lines(self) -> HeaderPairs:
        """The header lines, with names in lower case."""
        return _lines(self.headers)

    def read(self) -> bytes:
        """Return the body, as :meth:`HarContent.read` does."""
        return (self.post_data or _NOTHING).read("request.postData")


class HarPiece(Struct):
    """A piece in which the body of a response came.

    :param time: the milliseconds from the head of the response to the piece.
    :param size: its bytes.
    """

    time: Annotated[int, Meta(ge=0)]
    size: Annotated[int, Meta(ge=0)]


class HarResponse(Struct):
    """The response of an entry."""

    status: int = STALLED
    status_text: str | None = msgspec.field(default=None, name="statusText")
    headers: list[_Header] | None = None
    content: HarContent | None = None
    failure_text: str | None = msgspec.field(default=None, name="_failureText")
    error: str | None = msgspec.field(default=None, name="_error")
    pieces: Annotated[list[HarPiece], Meta(max_length=MOST_PIECES)] | None = msgspec.field(
        default=None, name="_pieces"
    )

    __repr__ = quiet_repr

    @property
    def lines(self) -> HeaderPairs:
        """The header lines, with names in lower case."""
        return _lines(self.headers)

    @property
    def failure(self) -> str:
        """Why there was no response; empty where that is not known."""
        return self.failure_text or self.error or ""

    def read(self) -> bytes:
        """Return the body, as :meth:`HarContent.read` does."""
        return (self.content or _NOTHING).read("response.content")


class HarEntry(Struct):
    """An entry of a HAR."""

    request: HarRequest
    response: HarResponse

    __repr__ = quiet_repr


class _RequestKey(Struct):
    method: str
    url: str

    __repr__ = quiet_repr


class _EntryKey(Struct):
    request: _RequestKey
    response: dict[str, msgspec.Raw]

    __repr__ = quiet_repr


_keys = msgspec.json.Decoder(_EntryKey)
_entries = msgspec.json.Decoder(HarEntry)


def key_of(entry: msgspec.Raw) -> tuple[str, str] | None:
    """Return the method and the URL of an entry; ``None`` for one without request or response.

    One that is nested too deeply counts as such, too.
    """
    if len(memoryview(entry)) <= len("null"):
        return None
    try:
        request = _keys.decode(entry).request
    except (msgspec.MsgspecError, RecursionError):
        return None
    return request.method, request.url


def read_entry(entry: msgspec.Raw) -> HarEntry:
    """Read an entry.

    :raises HarEntryError: it has not the form of a HAR.
    """
    try:
        return _entries.decode(entry)
    except msgspec.MsgspecError as error:
        found = _FAULT.fullmatch(str(error))
        what, field = (found["what"], found["field"]) if found else (str(error), None)
        raise HarEntryError(f"{field}: {what}" if field else what) from None
    except RecursionError:
        raise HarEntryError("it is nested too deeply") from None


def _lines(headers: Iterable[_Header] | None) -> HeaderPairs:
    return [(each.name.lower(), _written(each.value)) for each in headers or ()]


def _written(value: str | float | None) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
