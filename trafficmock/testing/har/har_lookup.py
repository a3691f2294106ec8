"""Finds the recorded answer to a request in a HAR's entries (Playwright's rules)."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

import ada_url
from attrs import frozen

from trafficmock.testing.session.arguments import headers as hd
from trafficmock.wire.payloads.serialized_response import REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trafficmock.testing.session.arguments.headers import Pairs

HarEntry = dict[str, Any]
STALLED = -1
"""The status of an entry whose request never got an answer."""

_SEE_OTHER = 303
_MOVED = frozenset({301, 302})
_BOUNDARY = re.compile(rb"boundary=\"?([^\";\r\n]+)")
_NOT_AS_STORED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that speak of the body as it was sent; a HAR has it decoded."""


@frozen
class RecordedResponse:
    """A recorded answer."""

    status: int
    status_text: str
    headers: Pairs
    body: bytes


@frozen
class HarRequest:
    """A request to look up."""

    url: str
    method: str
    headers: Pairs
    body: bytes


class HarCycleError(Exception):
    """The redirects in a HAR lead back to where they came from."""


@frozen
class HarLookup:
    """The entries of one HAR; they are not used up.

    :param read: gives the content of a file beside the HAR.
    """

    entries: Sequence[HarEntry]
    read: Callable[[str], bytes]

    def find(self, question: HarRequest) -> RecordedResponse | None:
        """Find the answer, following redirects within the HAR.

        :raises HarCycleError: the redirects go in a circle.
        :raises OSError: a file beside the HAR cannot be read.
        """
        seen: set[int] = set()
        while True:
            entry = self._best(question)
            if entry is None:
                return None
            if id(entry) in seen:
                raise HarCycleError(f"redirects in the HAR go in a circle at {question.url}")
            seen.add(id(entry))
            response = entry["response"]
            location = _header(response, "location")
            if response.get("status") not in REDIRECTS or not location:
                return self._recorded(response)
            question = _next_hop(question, response["status"], location)

    def _best(self, question: HarRequest) -> HarEntry | None:
        """Choose the entry with the most header lines in common, the earliest of several."""
        best, most = None, -1
        asked = set(question.headers)
        for entry in self.entries:
            if self._is_candidate(entry, question):
                lines = _pairs(entry["request"])
                common = sum(1 for line in lines if line in asked)
                if common > most:
                    best, most = entry, common
        return best

    def _is_candidate(self, entry: HarEntry, question: HarRequest) -> bool:
        request = entry["request"]
        if request.get("url") != question.url or request.get("method") != question.method:
            return False
        recorded = self._content(request.get("postData") or {})
        if question.method != "POST" or not question.body or not recorded:
            return True
        kind = hd.get(question.headers, "content-type") or ""
        recorded_kind = _header(request, "content-type")
        return question.body == recorded or (
            _without_boundary(question.body, kind) == _without_boundary(recorded, recorded_kind)
        )

    def _recorded(self, response: dict[str, Any]) -> RecordedResponse:
        return RecordedResponse(
            status=int(response.get("status", STALLED)),
            status_text=str(response.get("statusText", "")),
            headers=hd.without(_pairs(response), *_NOT_AS_STORED),
            body=self._content(response.get("content") or {}),
        )

    def _content(self, holder: dict[str, Any]) -> bytes:
        if holder.get("_file"):
            return self.read(str(holder["_file"]))
        text = str(holder.get("text") or "")
        if holder.get("encoding") == "base64":
            return base64.b64decode(text)
        return text.encode("utf-8", "surrogatepass")


def _pairs(holder: dict[str, Any]) -> Pairs:
    headers = holder.get("headers") or []
    return tuple((str(each["name"]).lower(), str(each["value"])) for each in headers)


def _header(holder: dict[str, Any], name: str) -> str:
    return hd.get(_pairs(holder), name) or ""


def _without_boundary(content: bytes, kind: str) -> bytes:
    found = _BOUNDARY.search(kind.encode("utf-8", "replace"))
    return content.replace(found[1].strip(), b"") if found else content


def _next_hop(question: HarRequest, status: int, location: str) -> HarRequest:
    """Make the request that a client sends after a redirect (the Fetch standard's rules)."""
    try:
        url = ada_url.URL(location, question.url).href
    except ValueError:
        url = location
    method, body = question.method, question.body
    if (status in _MOVED and method == "POST") or (
        status == _SEE_OTHER and method not in ("GET", "HEAD")
    ):
        method, body = "GET", b""
    return HarRequest(url, method, question.headers, body)
