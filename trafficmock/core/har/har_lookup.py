"""Finds the recorded response to a request in the HAR of a route (Playwright's rules)."""

from __future__ import annotations

import re
from itertools import chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import unquote

import ada_url
from attrs import field, frozen
from msgspec import UNSET, Raw

from trafficmock.core.har.har_parts import STALLED, HarEntryError, key_of, read_entry
from trafficmock.redaction import marks
from trafficmock.redaction.process_redactor import safe_url
from trafficmock.wire.http_syntax import join_repeats
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import REDIRECTS, SerializedResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import UnsetType

    from trafficmock.core.har.har_parts import HarEntry, HarResponse
    from trafficmock.wire.payloads.handler_action import AbortCode
    from trafficmock.wire.payloads.serialized_har import SerializedHar
    from trafficmock.wire.payloads.serialized_request import HeaderPairs, SerializedRequest

LONGEST_PAUSE_MS = 24 * 60 * 60 * 1000
"""The longest pause before a piece of a recorded answer: a day."""

_SEE_OTHER = 303
_MOVED = frozenset({301, 302})
_NOT_AS_STORED = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers about the encoded body; a HAR has the decoded one."""
_MARK = b"[redacted:"
_BOUNDARY = re.compile(r"boundary=\"?([^\";\r\n]+)")
_FAILURES: tuple[tuple[AbortCode, re.Pattern[str]], ...] = (
    ("namenotresolved", re.compile(r"ENOTFOUND|EAI_|DNS|getaddrinfo|not.?resolved", re.IGNORECASE)),
    ("connectionrefused", re.compile("refused", re.IGNORECASE)),
    ("connectionreset", re.compile("ECONNRESET|reset", re.IGNORECASE)),
    ("timedout", re.compile("timed? ?out", re.IGNORECASE)),
)
"""What the recorded texts of failures have, by the error code."""


_Numbered = tuple[int, Raw]
"""An entry and its number in the HAR, which begins with 1."""


@frozen
class HarQuestion:
    """A request to look up.

    :param lines: the header lines, with names in lower case.
    """

    url: str
    method: str
    lines: HeaderPairs = field(repr=False)
    content: bytes = field(repr=False)

    @classmethod
    def of(cls, request: SerializedRequest) -> HarQuestion:
        """Return the question for a request."""
        listed = request.headers_list
        pairs = request.headers.items() if listed is UNSET else listed
        lines = [(name.lower(), value) for name, value in pairs]
        return cls(request.url, request.method, lines, body.to_bytes(request.body_base64))

    def follow(self, status: int, location: str) -> HarQuestion:
        """Return the request that a client sends after a redirect (the Fetch standard's rules)."""
        try:
            url = ada_url.URL(location, self.url).href
        except ValueError:
            url = location
        method, content = self.method, self.content
        if (status in _MOVED and method == "POST") or (
            status == _SEE_OTHER and method not in ("GET", "HEAD")
        ):
            method, content = "GET", b""
        return HarQuestion(url, method, self.lines, content)


@frozen
class HarAnswer:
    """A recorded response.

    :param entry: the name of its entry, for messages.
    :param pieces: the milliseconds before each piece in which it came, and the bytes of it.
    """

    entry: str
    response: SerializedResponse = field(repr=False)
    pieces: tuple[tuple[int, int], ...] = field(repr=False, default=())


@frozen(eq=False, repr=False)
class HarLookup:
    """The entries of one HAR; each can answer any number of requests.

    :param size: the bytes of the entries that are kept: those with a request and a response.
    """

    name: str
    not_found: str
    size: int
    pace: float | UnsetType
    """The factor for the pauses of the answers; unset for answers that are sent at once."""

    _by_request: dict[tuple[str, str], list[_Numbered]]
    """The entries by method and URL, in their order."""

    _redacted: dict[tuple[str, str], list[_Numbered]]
    """Those with a mark in the URL, where any value may stand in a request."""

    @classmethod
    def of(cls, har: SerializedHar) -> HarLookup:
        """Return the lookup for the HAR of a message, without a reference to the message."""
        size, by_request = 0, dict[tuple[str, str], list[_Numbered]]()
        for number, entry in enumerate(har.entries, 1):
            key = key_of(entry)
            if key is not None:
                size += len(memoryview(entry))
                by_request.setdefault(key, []).append((number, entry.copy()))
        redacted = {key: found for key, found in by_request.items() if marks.has_marks(key[1])}
        return cls(har.name, har.not_found, size, har.pace, by_request, redacted)

    def find(self, question: HarQuestion) -> HarAnswer | AbortCode | None:
        """Return what was recorded for a request, after redirects within the HAR.

        :returns: the response, or the code of a failure; ``None`` where the HAR has neither, or
            where its redirects form a cycle.
        :raises HarEntryError: an entry for the request cannot be replayed; the message names it.
        """
        seen: set[int] = set()
        while True:
            best = self._best(question)
            if best is None or best[0] in seen:
                return None
            seen.add(best[0])
            response = best[1].response
            location = _header(response.lines, "location")
            if response.status not in REDIRECTS or not location:
                break
            question = question.follow(response.status, location)
        if response.status in (0, STALLED):
            return _failure(response.failure)
        name = self._named(best[0], question)
        try:
            return HarAnswer(name, _given(response), self._paced(response))
        except HarEntryError as error:
            raise HarEntryError(f"{name}: {error}") from None

    def _paced(self, response: HarResponse) -> tuple[tuple[int, int], ...]:
        if self.pace is UNSET or not response.pieces:
            return ()
        times = [0, *(piece.time for piece in response.pieces)]
        pauses = [max(0, later - before) for before, later in pairwise(times)]
        return tuple(
            (min(round(pause * self.pace), LONGEST_PAUSE_MS), piece.size)
            for pause, piece in zip(pauses, response.pieces, strict=True)
        )

    def _best(self, question: HarQuestion) -> tuple[int, HarEntry] | None:
        """Return the entry with the most header lines in common, the first of several.

        One with the same body goes before one that has marks in it.
        """
        best, most = None, (-1, -1)
        asked = set(question.lines)
        for number, raw in self._of_url(question):
            try:
                entry = read_entry(raw)
                likeness = _likeness(entry, question)
                if not likeness:
                    continue
            except HarEntryError as error:
                raise HarEntryError(f"{self._named(number, question)}: {error}") from None
            common = sum(1 for line in entry.request.lines if line in asked)
            if (likeness, common) > most:
                best, most = (number, entry), (likeness, common)
        return best

    def _of_url(self, question: HarQuestion) -> Sequence[_Numbered]:
        """Return the entries for a method and a URL, which may have been recorded with marks."""
        found = self._by_request.get((question.method, question.url))
        if found is not None:
            return found
        fit = {
            url: entries
            for (method, url), entries in self._redacted.items()
            if method == question.method and marks.fits(url, question.url, is_url=True)
        }
        # The application may have a mark from an earlier answer: a token for the next page.
        asked = unquote(question.url)
        same = [entries for url, entries in fit.items() if unquote(url) == asked]
        return sorted(chain.from_iterable(same or fit.values()), key=itemgetter(0))

    def _named(self, number: int, question: HarQuestion) -> str:
        return f"{self.name}, entry {number} ({question.method} {safe_url(question.url)})"

    def missing(self, question: HarQuestion) -> str:
        """Return the text for a request that the HAR does not have, with the nearest entry.

        It has the number of that entry and the part that differs, without its content.
        """
        near = self._nearest(question)
        return f"{self.name} has no such request{near and '; its entry '}{near}"

    def _nearest(self, question: HarQuestion) -> str:
        if best := self._best(question):
            return f"{best[0]} is a redirect, and the end of it is not there"
        if same := self._of_url(question):
            number, raw = same[0]
            recorded = read_entry(raw).request.read()
            return (
                f"{number} has another body: {len(recorded)} bytes, not "
                f"{len(question.content)}; they differ from byte "
                f"{_common(recorded, question.content)}"
            )
        path = question.url.partition("?")[0]
        for (method, url), ((number, _), *_) in self._by_request.items():
            if url == question.url:
                return f"{number} has the method {method}"
            if url.partition("?")[0] == path and method == question.method:
                return f"{number} has another query"
        return ""


def _likeness(entry: HarEntry, question: HarQuestion) -> int:
    """Return 2 for an entry with the body of a request, 1 if marks stand in it, 0 for another."""
    if question.method != "POST" or not question.content:
        return 2
    recorded = entry.request.read()
    if not recorded or question.content == recorded:
        return 2
    if _fits_marks(recorded, question.content):
        return 1
    kind = _header(question.lines, "content-type")
    recorded_kind = _header(entry.request.lines, "content-type")
    asked, kept = (
        _without_boundary(question.content, kind),
        _without_boundary(recorded, recorded_kind),
    )
    return 2 if asked == kept else int(_fits_marks(kept, asked))


def _fits_marks(recorded: bytes, content: bytes) -> bool:
    """Return whether a body is the recorded one, where any value may stand for a mark."""
    if _MARK not in recorded:
        return False
    return marks.fits(recorded.decode("latin-1"), content.decode("latin-1"))


def _header(lines: HeaderPairs, name: str) -> str:
    return next((value for each, value in lines if each == name), "")


def _common(one: bytes, other: bytes) -> int:
    """Return the number of bytes at the beginning that are equal."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _without_boundary(content: bytes, kind: str) -> bytes:
    found = _BOUNDARY.search(kind)
    return content.replace(found[1].strip().encode(), b"") if found else content


def _failure(text: str) -> AbortCode:
    """Return the error code for the recorded text of a failure, else ``failed``."""
    return next((code for code, pattern in _FAILURES if pattern.search(text)), "failed")


def _given(found: HarResponse) -> SerializedResponse:
    """Return a recorded response as a handler would give it, without a URL.

    :raises HarEntryError: its body was in a file that the worker could not read.
    """
    content = found.read()
    pairs = [pair for pair in found.lines if pair[0] not in _NOT_AS_STORED]
    if content:
        pairs.append(("content-length", str(len(content))))
    return SerializedResponse(
        found.status,
        found.status_text or "",
        join_repeats(pairs),
        body.from_bytes(content),
        headers_list=pairs,
    )
