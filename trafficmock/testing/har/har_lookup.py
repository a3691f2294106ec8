"""Finds the recorded response to a request in a HAR's entries (Playwright's rules)."""

from __future__ import annotations

import base64
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import ada_url
from attrs import field, frozen

from trafficmock.testing.errors import UsageError
from trafficmock.testing.har import har_form
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.wire.payloads.serialized_response import REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trafficmock.testing.session.arguments.headers import Pairs

HarEntry = dict[str, Any]
STALLED = -1
"""The status of an entry whose request got no response; browsers write 0 for it."""

_SEE_OTHER = 303
_MOVED = frozenset({301, 302})
_BOUNDARY = re.compile(rb"boundary=\"?([^\";\r\n]+)")
_NOT_AS_STORED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers about the encoded body; a HAR has the decoded one."""


@frozen
class RecordedResponse:
    """A recorded response.

    :param body: the decoded body.
    :param failure: why there is none, with the status :data:`STALLED`.
    """

    status: int
    status_text: str
    headers: Pairs = field(repr=False)
    body: bytes = field(repr=False)
    failure: str = ""


@frozen
class HarRequest:
    """A request to look up."""

    url: str
    method: str
    headers: Pairs = field(repr=False)
    body: bytes = field(repr=False)


class HarCycleError(Exception):
    """The redirects in a HAR form a cycle."""


@frozen(repr=False)
class HarLookup:
    """The entries of one HAR; each can answer any number of requests.

    :param read: returns the content of a file beside the HAR.
    :param name: the file name of the HAR, for errors.
    """

    entries: Sequence[HarEntry]
    read: Callable[[str], bytes]
    name: str = "the HAR"
    by_request: dict[tuple[str, str], list[HarEntry]] = field(init=False, factory=dict)
    """The entries by method and URL, in their order."""
    numbers: dict[int, int] = field(init=False, factory=dict)
    """The number of each entry, from 1, by its ``id()``."""

    def __attrs_post_init__(self) -> None:
        for number, entry in enumerate(self.entries, 1):
            key = har_form.key_of(entry)
            if key is not None:
                self.by_request.setdefault(key, []).append(entry)
                self.numbers[id(entry)] = number

    def find(self, question: HarRequest) -> RecordedResponse | None:
        """Return the recorded response to a request, after redirects within the HAR.

        :returns: ``None`` where the HAR has none.
        :raises HarCycleError: the redirects form a cycle.
        :raises UsageError: an entry has not the form of a HAR.
        :raises OSError: a file beside the HAR cannot be read.
        """
        response = _follow(question, self._best)
        return None if response is None else self.recorded(response)

    def find_for_all(self, method: str, url: str) -> dict[str, Any] | None:
        """Return the response that answers all requests with a method and URL.

        :returns: the ``response`` of the HAR entry; ``None`` where there is none, or where the
            response depends on the headers or body of the request.
        :raises HarCycleError: the redirects form a cycle.
        """
        return _follow(HarRequest(url, method, (), b""), self._only)

    def _best(self, question: HarRequest) -> HarEntry | None:
        """Return the entry with the most header lines in common, the first of several."""
        best, most = None, -1
        asked = set(question.headers)
        for entry in self._checked(question.method, question.url):
            if self._has_the_body(entry, question):
                lines = _pairs(entry["request"])
                common = sum(1 for line in lines if line in asked)
                if common > most:
                    best, most = entry, common
        return best

    def _only(self, question: HarRequest) -> HarEntry | None:
        """Return the first entry if :meth:`_best` returns it for all headers and bodies."""
        entries = self._checked(question.method, question.url)
        if not entries or (question.method == "POST" and any(map(_has_body, entries))):
            return None
        most = Counter(_pairs(entries[0]["request"]))
        if any(Counter(_pairs(other["request"])) - most for other in entries[1:]):
            return None
        return entries[0]

    def _checked(self, method: str, url: str) -> Sequence[HarEntry]:
        """Return the entries for a method and URL.

        :raises UsageError: one of them has not the form of a HAR.
        """
        entries = self.by_request.get((method, url), [])
        for entry in entries:
            if wrong := har_form.fault_of(entry):
                raise UsageError(f"{self.name}, {self._number(entry)} ({method} {url}): {wrong}")
        return entries

    def _number(self, entry: HarEntry) -> str:
        return f"entry {self.numbers[id(entry)]}"

    def nearest(self, question: HarRequest) -> str:
        """Return what the nearest entry has instead of a request that the HAR does not have.

        :returns: its number, and the part that differs, without its content; empty where no entry
            has the URL, apart from the query.
        """
        same = self.by_request.get((question.method, question.url))
        if same:
            recorded = self._content(same[0]["request"].get("postData") or {})
            here = _common(recorded, question.body)
            return (
                f"{self._number(same[0])} has another body: {len(recorded)} bytes, not "
                f"{len(question.body)}; they differ from byte {here}"
            )
        path = question.url.partition("?")[0]
        for (method, url), (entry, *_) in self.by_request.items():
            if url == question.url:
                return f"{self._number(entry)} has the method {method}"
            if url.partition("?")[0] == path and method == question.method:
                return f"{self._number(entry)} has another query"
        return ""

    def _has_the_body(self, entry: HarEntry, question: HarRequest) -> bool:
        if question.method != "POST" or not question.body:
            return True
        request = entry["request"]
        recorded = self._content(request.get("postData") or {})
        kind = hd.get(question.headers, "content-type") or ""
        recorded_kind = _header(request, "content-type")
        return not recorded or (
            question.body == recorded
            or _without_boundary(question.body, kind) == _without_boundary(recorded, recorded_kind)
        )

    def recorded(self, response: dict[str, Any]) -> RecordedResponse:
        """Decode a ``response`` of the HAR.

        :raises OSError: a file beside the HAR cannot be read.
        """
        return RecordedResponse(
            status=int(response.get("status", STALLED)) or STALLED,
            status_text=str(response.get("statusText", "")),
            headers=hd.without(_pairs(response), *_NOT_AS_STORED),
            body=self._content(response.get("content") or {}),
            failure=str(response.get("_failureText") or response.get("_error") or ""),
        )

    def _content(self, holder: dict[str, Any]) -> bytes:
        if holder.get("_file"):
            return self.read(str(holder["_file"]))
        text = str(holder.get("text") or "")
        if holder.get("encoding") == "base64":
            return base64.b64decode(text)
        return text.encode("utf-8", "surrogatepass")


def _follow(
    question: HarRequest, choose: Callable[[HarRequest], HarEntry | None]
) -> dict[str, Any] | None:
    """Return the response of the chosen entry, after its redirects.

    :param choose: returns the entry for a request, or ``None``.
    """
    seen: set[int] = set()
    while True:
        entry = choose(question)
        if entry is None:
            return None
        if id(entry) in seen:
            raise HarCycleError(f"redirects in the HAR go in a circle at {question.url}")
        seen.add(id(entry))
        response: dict[str, Any] = entry["response"]
        location = _header(response, "location")
        if response.get("status") not in REDIRECTS or not location:
            return response
        question = _next_hop(question, response["status"], location)


def _has_body(entry: HarEntry) -> bool:
    content = entry["request"].get("postData") or {}
    return bool(content.get("_file") or content.get("text"))


def _pairs(holder: dict[str, Any]) -> Pairs:
    headers = holder.get("headers") or []
    return tuple((str(each["name"]).lower(), str(each["value"])) for each in headers)


def _header(holder: dict[str, Any], name: str) -> str:
    return hd.get(_pairs(holder), name) or ""


def _common(one: bytes, other: bytes) -> int:
    """Return the number of bytes at the beginning that are equal."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _without_boundary(content: bytes, kind: str) -> bytes:
    found = _BOUNDARY.search(kind.encode("utf-8", "replace"))
    return content.replace(found[1].strip(), b"") if found else content


def _next_hop(question: HarRequest, status: int, location: str) -> HarRequest:
    """Return the request that a client sends after a redirect (the Fetch standard's rules)."""
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
