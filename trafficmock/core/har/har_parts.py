"""The entries of a HAR, as far as a replay depends on them.

Programs write HARs in many ways, and people change them. What has one meaning is read: numbers as
texts, headers as an object, or with a list of values. Pseudo-headers of HTTP/2 are left out.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Annotated, Any, cast
from urllib.parse import urlencode

import msgspec
from msgspec import Meta, Struct

from trafficmock.wire.payloads.har_text import decoded_base64, text_bytes
from trafficmock.wire.payloads.quiet_repr import quiet_repr
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

    @property
    def text(self) -> str:
        """The message with its parts, which its conversion to a text does not keep."""
        text: str = self.args[0]
        return text


class HarContent(Struct):
    """A body of an entry.

    :param coding: in recordings of trafficmock, the ``content-encoding`` in which the body still
        is, because the proxy does not decode it. Other programs write decoded bodies alone.
    """

    text: Any = None
    encoding: str | None = None
    mime_type: str | None = msgspec.field(default=None, name="mimeType")
    params: Any = None
    unreadable: str | None = None
    coding: Any = msgspec.field(default=None, name="_coding")

    __repr__ = quiet_repr

    def read(self, field: str, content_type: str) -> bytes:
        """Return the body.

        :param field: the place of this body in its entry, for messages.
        :param content_type: the header, whose charset the body has if ``mimeType`` names none.
        :raises HarEntryError: it is not base64, or was in a file that the worker could not read.
        """
        if self.unreadable:
            raise HarEntryError(self.unreadable)
        if self.text is None and isinstance(self.params, list):
            return self._form()
        text = _written(self.text)
        if (self.encoding or "").lower() != "base64":
            return text_bytes(text, self.mime_type or "", content_type)
        try:
            return decoded_base64(text)
        except ValueError:
            raise HarEntryError(f"{field}.text: it is not base64") from None

    def _form(self) -> bytes:
        """Return the form that ``params`` lists: HAR 1.2 has them instead of ``text``."""
        pairs = [
            (_written(each.get("name")), _written(each.get("value")))
            for each in self.params
            if isinstance(each, dict)
        ]
        return urlencode(pairs).encode()


_NOTHING = HarContent()


class HarRequest(Struct):
    """The request of an entry."""

    method: str
    url: str
    headers: Any = None
    post_data: HarContent | None = msgspec.field(default=None, name="postData")

    __repr__ = quiet_repr

    @property
    def lines(self) -> HeaderPairs:
        """The header lines, with names in lower case."""
        return cast("HeaderPairs", self.headers)

    def read(self) -> bytes:
        """Return the body, as :meth:`HarContent.read` does."""
        return (self.post_data or _NOTHING).read("request.postData", _type(self.lines))


class HarPiece(Struct):
    """A piece in which the body of a response came.

    :param time: the milliseconds from the head of the response to the piece.
    :param size: its bytes.
    """

    time: Annotated[int, Meta(ge=0)]
    size: Annotated[int, Meta(ge=0)]


class HarResponse(Struct):
    """The response of an entry."""

    status: Any = STALLED
    status_text: Any = msgspec.field(default=None, name="statusText")
    headers: Any = None
    content: HarContent | None = None
    failure_text: Any = msgspec.field(default=None, name="_failureText")
    error: Any = msgspec.field(default=None, name="_error")
    pieces: Annotated[list[HarPiece], Meta(max_length=MOST_PIECES)] | None = msgspec.field(
        default=None, name="_pieces"
    )
    trailers: Any = msgspec.field(default=None, name="_trailers")

    __repr__ = quiet_repr

    @property
    def lines(self) -> HeaderPairs:
        """The header lines, with names in lower case."""
        return cast("HeaderPairs", self.headers)

    @property
    def phrase(self) -> str:
        """The reason phrase, in latin-1."""
        return _latin(_written(self.status_text))

    @property
    def failure(self) -> str:
        """Why there was no response; empty where that is not known."""
        return _written(self.failure_text) or _written(self.error)

    def read(self) -> bytes:
        """Return the body, as :meth:`HarContent.read` does."""
        return (self.content or _NOTHING).read("response.content", _type(self.lines))


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
        read = _entries.decode(entry)
    except msgspec.MsgspecError as error:
        found = _FAULT.fullmatch(str(error))
        what, field = (found["what"], found["field"]) if found else (str(error), None)
        raise HarEntryError(f"{field}: {what}" if field else what) from None
    except RecursionError:
        raise HarEntryError("it is nested too deeply") from None
    read.response.status = _status(read.response.status)
    read.request.headers = _lines(read.request.headers, "request.headers")
    read.response.headers = _lines(read.response.headers, "response.headers")
    read.response.trailers = _lines(read.response.trailers, "response._trailers")
    return read


def _status(given: Any) -> int:
    """Read a status; :data:`STALLED` where there is none.

    :raises HarEntryError: it is no whole number.
    """
    with suppress(TypeError, ValueError, OverflowError):
        if given is None:
            return STALLED
        if (status := int(given)) == float(given):
            return status
    raise HarEntryError("response.status: it is no whole number")


def _lines(headers: Any, place: str) -> HeaderPairs:
    """Read header lines, in latin-1; of a list of values, each is a line.

    :raises HarEntryError: they are neither a list with names nor an object.
    """
    if isinstance(headers, dict):
        headers = [{"name": name, "value": value} for name, value in headers.items()]
    if not isinstance(headers, list | None):
        raise HarEntryError(f"{place}: they are no list")
    lines: HeaderPairs = []
    for index, each in enumerate(headers or ()):
        name = each.get("name") if isinstance(each, dict) else None
        if not isinstance(name, str):
            raise HarEntryError(f"{place}[{index}]: it has no name")
        given = each.get("value")
        values = given if isinstance(given, list) else [given]
        if not name.startswith(":"):
            lines += [(name.lower(), _latin(_written(value))) for value in values]
    return lines


def _type(lines: HeaderPairs) -> str:
    return next((value for name, value in lines if name == "content-type"), "")


def _latin(text: str) -> str:
    """Return a text of a head as latin-1: browsers show bytes of UTF-8 decoded."""
    return text if text.isascii() or max(text) <= "\xff" else text.encode().decode("latin-1")


def _written(value: Any) -> str:
    """Return a text; of another value its JSON, of ``null`` nothing."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
