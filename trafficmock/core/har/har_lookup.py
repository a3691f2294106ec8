"""Finds the recorded response to a request in the HAR of a route."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from heapq import nlargest
from itertools import chain, islice, pairwise
from urllib.parse import unquote

from attrs import field, frozen
from msgspec import UNSET, Raw, UnsetType

from trafficmock.core.answers import response_rules
from trafficmock.core.answers.body_way import fitted
from trafficmock.core.har.har_parts import (
    STALLED,
    HarEntry,
    HarEntryError,
    HarResponse,
    key_of,
    read_entry,
)
from trafficmock.core.har.match_rules import (
    HarQuestion,
    Key,
    MatchRules,
    likeness,
)
from trafficmock.matching.url_parts import comparable_url
from trafficmock.texts.marked_texts import has_marks
from trafficmock.texts.wording import Wording, url_text
from trafficmock.wire.http_syntax import join_repeats
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Abort, AbortCode, Fulfill, Piece
from trafficmock.wire.payloads.serialized_har import SerializedHar
from trafficmock.wire.payloads.serialized_request import HeaderPairs
from trafficmock.wire.payloads.serialized_response import REDIRECTS, SerializedResponse

LONGEST_PAUSE_MS = 24 * 60 * 60 * 1000
"""The longest pause before a piece of a recorded answer: a day."""

MOST_NEIGHBOUR_BYTES = 2**20
"""The most bytes of the entries that a request is compared with to find the nearest one."""

_AS_SENT = frozenset({"content-length", "transfer-encoding"})
"""Headers about the body as it was sent."""

_AS_DECODED = _AS_SENT | {"content-encoding"}
"""Those that a decoded body does not have."""

_OF_CONNECTION = frozenset({"transfer-encoding"})
"""Those that a response without a body does not have as the server sent them: a ``content-length``
is that of the body which another request gets (RFC 9110 section 8.6)."""

_NOT_MODIFIED = 304
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
class HarFound:
    """What was recorded for a request.

    :param entries: the numbers of the entries: redirects, and the last one.
    :param answer: the response, corrected by :mod:`.response_rules`, or the failure.
    """

    entries: tuple[int, ...]
    answer: Fulfill | Abort


@frozen(eq=False, repr=False)
class HarLookup:
    """The entries of one HAR.

    :param size: the bytes of the entries that are kept: those with a request and a response.
    :param in_order: each entry answers one request, in their order; else any number of them.
    """

    name: str
    not_found: str
    size: int
    pace: float | UnsetType
    """The factor for the pauses of the answers; unset for answers that are sent at once."""

    rules: MatchRules
    in_order: bool
    follows_redirects: bool
    """Whether a redirect is answered by what it leads to in the HAR, as Playwright does."""

    _by_key: dict[Key, list[_Numbered]]
    """The entries by what has to be equal of method and URL, in their order."""

    _redacted: dict[Key, list[_Numbered]]
    """Those with a mark there, where any value may stand in a request."""

    _used: set[int] = field(factory=set)
    """The numbers of the entries that have answered, where they do so in their order."""

    _digests: dict[int, bytes] = field(factory=dict)
    """The parts beside method and URL of entries without marks, once they were compared."""

    @classmethod
    def of(cls, har: SerializedHar) -> HarLookup:
        """Return the lookup for the HAR of a message, without a reference to the message.

        :raises MatchRuleError: a rule by which requests are compared is none.
        """
        match_on = None if har.match_on is UNSET else har.match_on
        rules = MatchRules.of(match_on, har.ignore)
        size, by_key = 0, dict[Key, list[_Numbered]]()
        for number, entry in enumerate(har.entries, 1):
            head = key_of(entry)
            if head is not None:
                size += len(memoryview(entry))
                key = rules.key(head[0], comparable_url(head[1]))
                by_key.setdefault(key, []).append((number, entry.copy()))
        redacted = {key: found for key, found in by_key.items() if any(map(has_marks, key))}
        return cls(
            har.name,
            har.not_found,
            size,
            har.pace,
            rules,
            har.in_order,
            har.follow_redirects,
            by_key,
            redacted,
        )

    def find(self, question: HarQuestion) -> HarFound | None:
        """Return what was recorded for a request.

        A redirect is the answer, as from a server, unless the HAR follows redirects. Where entries
        answer in their order, they are used by that.

        :returns: ``None`` where the HAR has neither a response nor a failure, or where its
            redirects form a cycle.
        :raises HarEntryError: an entry for the request cannot be replayed; the message names it.
        """
        seen: dict[int, None] = {}
        while True:
            best = self.best(question)
            if best is None or best[0] in seen:
                return None
            seen[best[0]] = None
            response = best[1].response
            location = _header(response.lines, "location") if self.follows_redirects else ""
            if response.status not in REDIRECTS or not location:
                break
            question = question.follow(response.status, location)
        if self.in_order:
            self._used.update(seen)
        if response.status in (0, STALLED):
            return HarFound((*seen,), Abort(_failure(response.failure)))
        try:
            given = response_rules.sendable_response(_given(response, question.method))
        except (HarEntryError, response_rules.UnsendableMockError) as error:
            name = self._named(best[0], question)
            raise HarEntryError(Wording(name, f": {error}")) from None
        return HarFound((*seen,), Fulfill(given, pieces=self._paced(response, given)))

    def _paced(self, response: HarResponse, given: SerializedResponse) -> list[Piece] | UnsetType:
        """Return the pieces in which a response came; unset for one that is sent at once."""
        if self.pace is UNSET or not response.pieces:
            return UNSET
        times = [0, *(piece.time for piece in response.pieces)]
        pauses = [max(0, later - before) for before, later in pairwise(times)]
        pieces = [
            (min(round(pause * self.pace), LONGEST_PAUSE_MS), piece.size)
            for pause, piece in zip(pauses, response.pieces, strict=True)
        ]
        return [*fitted(pieces, body.size(given.body_base64))]

    def best(self, question: HarQuestion) -> tuple[int, HarEntry] | None:
        """Return the entry that answers a request; ``None`` if none does.

        One with equal parts goes before one that has marks in them. Then the first one is taken
        where entries answer in their order, else the one with the most header lines in common, the
        first of several.
        """
        best, most = None, (0, -1)
        asked = set(question.lines)
        for number, like, entry in self._alike(question):
            if self.in_order and number in self._used:
                continue
            common = 0
            if not self.in_order:
                common = sum(1 for line in entry.request.lines if line in asked)
            if (like, common) > most:
                best, most = (number, entry), (like, common)
        return best

    def used_up(self, question: HarQuestion) -> list[int]:
        """Return the numbers of the entries for a request that have answered, one each."""
        if not self._used:  # most HARs have no order, and entries may have many megabytes
            return []
        return [number for number, _, _ in self._alike(question) if number in self._used]

    def _alike(self, question: HarQuestion) -> Iterator[tuple[int, int, HarEntry]]:
        """Yield the entries for a request, each with its number and how alike it is.

        :raises HarEntryError: one of them has not the form of a HAR.
        """
        rules = self.rules
        if not rules.parts_beside or rules.leaves_body(question):
            forms: tuple[str, ...] = ()
        else:
            forms = rules.content_forms(question)
        # Made for the first entry whose digest is known: a body may have many megabytes.
        digest = b""
        for number, raw in self._of_key(question):
            if forms and number in self._digests:
                digest = digest or _digest(forms)
                if self._digests[number] != digest:
                    continue
            try:
                entry = read_entry(raw)
                like = self._likeness(number, entry, question, forms)
            except HarEntryError as error:
                named = self._named(number, question)
                raise HarEntryError(Wording(named, f": {error}")) from None
            if like:
                yield number, like, entry

    def _likeness(
        self, number: int, entry: HarEntry, question: HarQuestion, forms: tuple[str, ...]
    ) -> int:
        """Return 2 for an entry with equal parts, 1 if marks stand in them, 0 for another.

        :param forms: the parts of the request that are compared, without method and URL.
        """
        if not forms or self._digests.get(number) is not None:
            return 2
        recorded = question_of(entry)
        if self.rules.is_default and recorded.content in (b"", question.content):
            return 2
        kept = self.rules.content_forms(recorded)
        if not self.rules.is_default and not any(map(has_marks, kept)):
            self._digests[number] = _digest(kept)
        return likeness(kept, forms)

    def _of_key(self, question: HarQuestion) -> Sequence[_Numbered]:
        """Return the entries for a method and a URL, which may have been recorded with marks."""
        asked = self.rules.key(question.method, question.url)
        found = self._by_key.get(asked)
        if found is not None:
            return found
        fit = {
            key: entries for key, entries in self._redacted.items() if self.rules.fits(key, asked)
        }
        # The application may have a mark from an earlier answer: a token for the next page.
        plain = [*map(unquote, asked)]
        same = [entries for key, entries in fit.items() if [*map(unquote, key)] == plain]
        return sorted(chain.from_iterable(same or fit.values()), key=operator.itemgetter(0))

    def neighbours(self, question: HarQuestion, most: int) -> list[tuple[int, HarQuestion]]:
        """Return recorded requests that are like another one, with their numbers.

        :param most: how many; those with the same method and URL are the first ones.
        """
        asked = _without_queries(self.rules.key(question.method, question.url))

        def closeness(key: Key) -> int:
            return sum(map(operator.eq, _without_queries(key), asked))

        keys = nlargest(most, self._by_key, key=closeness)
        numbered = chain(self._of_key(question), *(self._by_key[key] for key in keys))
        found: dict[int, HarQuestion] = {}
        room = MOST_NEIGHBOUR_BYTES
        for number, raw in islice(numbered, 2 * most):
            if room <= 0:
                break
            room -= len(memoryview(raw))
            if number not in found and len(found) < most:
                with suppress(HarEntryError):
                    found[number] = question_of(read_entry(raw))
        return [*found.items()]

    def _named(self, number: int, question: HarQuestion) -> Wording:
        what = f"{self.name}, entry {number} ({question.method} "
        return Wording(what, url_text(question.url), ")")


def question_of(entry: HarEntry) -> HarQuestion:
    """Return the request of an entry.

    :raises HarEntryError: its body cannot be read.
    """
    request = entry.request
    lines, content = request.lines, request.post_data
    if content is not None and content.mime_type and not _header(lines, "content-type"):
        lines = [*lines, ("content-type", content.mime_type)]
    return HarQuestion(request.url, request.method, lines, request.read())


def _without_queries(key: Key) -> list[str]:
    return [part.partition("?")[0] for part in key]


def _digest(forms: tuple[str, ...]) -> bytes:
    """Return what is kept of the parts of an entry: equal for equal ones."""
    made = blake2b(digest_size=16)
    for form in forms:
        made.update(f"{len(form)}:{form}".encode("utf-8", "surrogatepass"))
    return made.digest()


def _header(lines: HeaderPairs, name: str) -> str:
    return next((value for each, value in lines if each == name), "")


def _failure(text: str) -> AbortCode:
    """Return the error code for the recorded text of a failure, else ``failed``."""
    return next((code for code, pattern in _FAILURES if pattern.search(text)), "failed")


def _given(found: HarResponse, method: str) -> SerializedResponse:
    """Return a recorded response as a handler would give it, without a URL.

    :raises HarEntryError: its body was in a file that the worker could not read.
    """
    content = found.read()
    has_body = method != "HEAD" and found.status != _NOT_MODIFIED
    is_coded = found.content is not None and bool(found.content.coding)
    of_body = _AS_SENT if is_coded else _AS_DECODED
    left_out = of_body if has_body else _OF_CONNECTION
    pairs = [pair for pair in found.lines if pair[0] not in left_out]
    if content and has_body:
        pairs.append(("content-length", str(len(content))))
    return SerializedResponse(
        found.status,
        found.phrase,
        join_repeats(pairs),
        body.from_bytes(content),
        headers_list=pairs,
        trailers=found.trailers or UNSET,
    )
