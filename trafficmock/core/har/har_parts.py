"""The entries of a HAR, as far as a replay depends on them."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.wire.payloads.serialized_request import HeaderPairs

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


class HarContent(Struct):
    """A body of an entry."""

    text: str | None = None
    encoding: str | None = None
    unreadable: str | None = None

    def read(self) -> bytes:
        """Return the body.

        :raises HarEntryError: it was in a file that the worker could not read.
        """
        if self.unreadable:
            raise HarEntryError(self.unreadable)
        text = self.text or ""
        return base64.b64decode(text) if self.encoding == "base64" else text.encode()


_NOTHING = HarContent()


class HarRequest(Struct):
    """The request of an entry."""

    method: str
    url: str
    headers: list[_Header] | None = None
    post_data: HarContent | None = msgspec.field(default=None, name="postData")

    @property
    def lines(self) -> HeaderPairs:
        """The header lines, with names in lower case."""
        return _lines(self.headers)

    @property
    def content(self) -> HarContent:
        """The body."""
        return self.post_data or _NOTHING


class HarResponse(Struct):
    """The response of an entry."""

    status: int = STALLED
    status_text: str | None = msgspec.field(default=None, name="statusText")
    headers: list[_Header] | None = None
    content: HarContent | None = None
    failure_text: str | None = msgspec.field(default=None, name="_failureText")
    error: str | None = msgspec.field(default=None, name="_error")

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
        return (self.content or _NOTHING).read()


class HarEntry(Struct):
    """An entry of a HAR."""

    request: HarRequest
    response: HarResponse


class _RequestKey(Struct):
    method: str
    url: str


class _EntryKey(Struct):
    request: _RequestKey
    response: dict[str, msgspec.Raw]


_keys = msgspec.json.Decoder(_EntryKey)
_entries = msgspec.json.Decoder(HarEntry)


def key_of(entry: msgspec.Raw) -> tuple[str, str] | None:
    """Return the method and the URL of an entry; ``None`` for one without request or response."""
    try:
        request = _keys.decode(entry).request
    except msgspec.MsgspecError:
        return None
    return request.method, request.url


def read_entry(entry: msgspec.Raw) -> HarEntry:
    """Read an entry.

    :raises HarEntryError: it has not the form of a HAR.
    """
    try:
        read = _entries.decode(entry)
    except msgspec.MsgspecError as error:
        found = _FAULT.fullmatch(str(error))
        what, field = (found["what"], found["field"]) if found else (str(error), None)
        raise HarEntryError(f"{field}: {what}" if field else what) from None
    for field, holder in (
        ("request.postData.text", read.request.post_data),
        ("response.content.text", read.response.content),
    ):
        if holder is not None and holder.encoding == "base64" and not _is_base64(holder.text):
            raise HarEntryError(f"{field}: it is not base64")
    return read


def _lines(headers: Iterable[_Header] | None) -> HeaderPairs:
    return [(each.name.lower(), _written(each.value)) for each in headers or ()]


def _written(value: str | float | None) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _is_base64(text: str | None) -> bool:
    try:
        base64.b64decode(text or "")
    except ValueError:
        return False
    return True
