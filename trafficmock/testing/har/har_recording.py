"""Records requests and upstream responses as a HAR that can be replayed."""

from __future__ import annotations

import hashlib
import mimetypes
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, urlsplit

from attrs import define, field
from msgspec import UNSET

from trafficmock.redaction.redacted_documents import redacted_har
from trafficmock.redaction.redactor import Redactor
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.wire.payloads.har_text import body_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from msgspec import UnsetType

    from trafficmock.testing.session.arguments.headers import TextPairs
    from trafficmock.testing.session.observation.request_state import RequestState, ResponseState

Content = Literal["attach", "embed"]
UpdateMode = Literal["minimal", "full"]
_UNKNOWN = -1
_STALLED = -1
"""The status of a request that got no response."""


@define
class HarRecording:
    """A HAR that is being recorded.

    :param version: the version of trafficmock, for ``creator``.
    :param content: ``attach`` puts bodies into files of their own, ``embed`` into the HAR.
    :param mode: ``minimal`` leaves times and sizes out.
    :param redactor: replaces secrets.
    :ivar files: the bodies of ``attach``, by file name.
    """

    version: str
    content: Content = "attach"
    mode: UpdateMode = "minimal"
    redactor: Redactor = field(factory=Redactor)
    files: dict[str, bytes] = field(init=False, factory=dict, repr=False)
    _entries: list[dict[str, Any]] = field(init=False, factory=list, repr=False)

    def add(
        self, request: RequestState, response: ResponseState | str, began: int, ms: int
    ) -> None:
        """Add a request with its response, or the text of its failure.

        :param began: the time of the request, in epoch milliseconds.
        :param ms: the time until the response, in milliseconds.
        """
        full = self.mode == "full"
        entry = {
            "startedDateTime": datetime.fromtimestamp(began / 1000, UTC).isoformat(
                timespec="milliseconds"
            ),
            "time": ms if full else _UNKNOWN,
            "request": self._request(request),
            "response": self._failed(response)
            if isinstance(response, str)
            else self._response(response),
            "cache": {},
            "timings": {"send": 0, "wait": ms, "receive": 0}
            if full
            else dict.fromkeys(("send", "wait", "receive"), _UNKNOWN),
        }
        self._entries.append(redacted_har(entry, self.redactor))

    @property
    def count(self) -> int:
        """The number of entries."""
        return len(self._entries)

    def keep(self, entries: Sequence[dict[str, Any]], read: Callable[[str], bytes]) -> None:
        """Begin with the entries of an earlier recording, and with the files of their bodies.

        :param read: reads a file of the earlier recording.
        """
        self._entries += entries
        for entry in entries:
            for holder in _bodies(entry):
                name = holder.get("_file")
                if isinstance(name, str) and name not in self.files:
                    with suppress(OSError):  # replayed, it says that it is missing
                        self.files[name] = read(name)

    def document(self) -> dict[str, Any]:
        creator = {"name": "trafficmock", "version": self.version}
        return {"log": {"version": "1.2", "creator": creator, "entries": self._entries}}

    def _request(self, request: RequestState) -> dict[str, Any]:
        content = request.content
        query = parse_qsl(urlsplit(request.url).query, keep_blank_values=True)
        made: dict[str, Any] = {
            "method": request.method,
            "url": request.url,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": _lines(request.headers),
            "queryString": [{"name": name, "value": value} for name, value in query],
            "headersSize": _UNKNOWN,
            "bodySize": self._size(content),
        }
        if content:
            kind = hd.get(request.headers, "content-type") or "application/octet-stream"
            coding = hd.get(request.headers, "content-encoding")
            made["postData"] = {"mimeType": kind, "params": [], **self._body(content, kind, coding)}
        return made

    def _response(self, response: ResponseState) -> dict[str, Any]:
        content = response.read()
        kind = hd.get(response.headers, "content-type") or "application/octet-stream"
        coding = hd.get(response.headers, "content-encoding")
        return {
            **self._answer(response.wire.status, response.wire.status_text),
            "headers": _lines(response.headers),
            "content": {
                "size": self._size(content),
                "mimeType": kind,
                **(self._body(content, kind, coding) if content else {}),
                # What is decoded has no such header any more.
                **({"_coding": coding} if content and coding else {}),
            },
            "bodySize": self._size(content),
            "redirectURL": hd.get(response.headers, "location") or "",
            **_pieces(response.wire.pieces),
        }

    def _failed(self, text: str) -> dict[str, Any]:
        return {
            **self._answer(_STALLED, ""),
            "headers": [],
            "content": {"size": _UNKNOWN, "mimeType": "x-unknown"},
            "bodySize": _UNKNOWN,
            "redirectURL": "",
            "_failureText": text,
        }

    def _answer(self, status: int, text: str) -> dict[str, Any]:
        return {
            "status": status,
            "statusText": text,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headersSize": _UNKNOWN,
        }

    def _size(self, content: bytes) -> int:
        return len(content) if self.mode == "full" else _UNKNOWN

    def _body(self, content: bytes, kind: str, coding: str | None) -> dict[str, str]:
        if self.content == "attach":
            content = self.redactor.body(content, kind, coding)
            extension = mimetypes.guess_extension(kind.split(";", maxsplit=1)[0].strip()) or ".bin"
            # Playwright's file names: a hash of the content, not for security.
            name = hashlib.sha1(content, usedforsecurity=False).hexdigest() + extension
            self.files[name] = content
            return {"_file": name}
        return body_fields(content, kind)


def _bodies(entry: Any) -> Iterator[dict[str, Any]]:
    """Yield what may hold bodies in an entry, which people may have changed."""
    if isinstance(entry, dict):
        for part, name in (("request", "postData"), ("response", "content")):
            holder = entry.get(part)
            body = holder.get(name) if isinstance(holder, dict) else None
            if isinstance(body, dict):
                yield body


def _lines(pairs: TextPairs) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _pieces(pieces: list[tuple[int, int]] | UnsetType) -> dict[str, Any]:
    """Return the field for the pieces in which a body came."""
    if pieces is UNSET:
        return {}
    return {"_pieces": [{"time": time, "size": size} for time, size in pieces]}
