"""Says in lines what came while a test ran, for the report of its failure.

It answers ``diagnosis:query``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import define, field
from msgspec import UNSET

from trafficmock.core.effects import Diagnose
from trafficmock.core.ownership.differences import LONGEST_TEXT
from trafficmock.history.query import Query
from trafficmock.history.rest_records import RequestRecord, upstream_error
from trafficmock.history.store import History
from trafficmock.matching.host_pattern import is_under_test
from trafficmock.matching.url_parts import shown_url, url_parts
from trafficmock.server.diagnosis.diagnosis_texts import NOTHING, applications, socket_hint
from trafficmock.server.diagnosis.similar_request import SimilarRequest, SimilarRequests
from trafficmock.server.diagnosis.similar_request_search import NO_REASON, compare
from trafficmock.texts.wording import Wording, free_text, joined, unredacted
from trafficmock.wire.outbound import UNMATCHED, DiagnosisResult

MOST_LINES = 20
"""Limit of the lines for one kind of request: the first ones tell most."""

OWNED = "decided by this test"
TAKEN = "matched by a route of this test, but made for another test"
OTHERS = "decided by another test"
REFUSED = "refused, because several tests have a route for it"
REFUSED_STRICT = "refused by strict mode, see the errors"
REFUSED_UNOWNED = "refused by strict mode, without the context of a test"
FAILED = "failed"
NETWORK = "without a route of this test: went to the real network"
UNOWNED = "without the context of a test, and without a route: went to the real network"
WITHIN = "without a route of this test: went to a local host"
WAITING = "not settled yet"
SHARED = "decided by a route that tests share"
FOREIGN = "made for other tests"
KINDS = (
    *(OWNED, SHARED, TAKEN, OTHERS, REFUSED, REFUSED_STRICT, REFUSED_UNOWNED),
    *(FAILED, NETWORK, UNOWNED, WITHIN, WAITING, FOREIGN),
)
COUNTED = (REFUSED_STRICT,)
"""Kinds of which only the number is reported: each has an error of its own."""

_UNMATCHED = (NETWORK, UNOWNED, WITHIN, REFUSED_UNOWNED)
"""Kinds of requests that no route of the test was for, and one may have been meant for."""

_GIVEN_UP = "aborted: the application gave the request up"
_LONGEST_REASON = 100
"""The most characters of why an answer broke off; an error of the test has a longer one."""


def diagnosis_steps(history: History, effect: Diagnose) -> Iterator[DiagnosisResult | None]:
    """Find what came to a test, and what came instead of what its routes are for.

    :returns: yields ``None`` after each step, and the answer at the end.
    """
    query = effect.query
    since = None if query.since is UNSET else query.since
    similar = yield from compare(history, query.unmet, "route", since, effect.own)
    newest_first = []
    for entry in history.requests.query(Query(from_=since)):
        newest_first.append(entry.record)
        yield None
    said = _Said(effect, newest_first[::-1], similar, history.capture)
    lines = said.of_unmet_alone() if query.only_unmet else said.lines()
    yield DiagnosisResult(query.query_id, joined("\n", lines))


@define
class _Said:
    """The lines about one test.

    :param seen: the requests since the test began, oldest first.
    :param similar: for each unmet route the requests that came instead.
    :param capture: ``--history-capture``.
    :ivar tagged: whether a request of this test came with its context.
    :ivar kinds: the requests by kind.
    """

    asked: Diagnose
    seen: Sequence[RequestRecord]
    similar: Sequence[SimilarRequests]
    capture: str
    tagged: bool = field(init=False)
    kinds: dict[str, list[RequestRecord]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        test_id = self.asked.query.test_id
        self.tagged = any(
            record.test_id == test_id
            and (record.has_context is True or record.outcome.kind == "passthrough")
            for record in self.seen
        )
        self.kinds = {kind: [] for kind in KINDS}
        for record in self.seen:
            self.kinds[self._kind(record)].append(record)

    def lines(self) -> Iterator[str]:
        yield from socket_hint(self.asked.query.unmet)
        yield from applications(self.asked.agents, heard=bool(self.seen))
        if not self.seen:
            yield "No request came since the test began."
        # Where this test's requests carry its context, those that others decided are not its own.
        left_out = (FOREIGN, OTHERS) if self.tagged else (FOREIGN,)
        for kind, found in self.kinds.items():
            if kind in left_out:
                continue
            if found:
                yield f"{kind}: {len(found)}"
            if kind not in COUNTED:
                yield from _counted([self._line(each, kind) for each in found])
        yield from self._unmet()
        if self.capture != "all":
            yield f"(the proxy's history keeps only: {self.capture})"

    def of_unmet_alone(self) -> Iterator[str]:
        """List the routes that no request met; where nothing came, say who is connected."""
        unmet = [*self._unmet()]
        yield from unmet
        nothing = not any(each.requests for each in self.similar)
        if unmet and nothing and not all(each.own_process for each in self.asked.query.unmet):
            hint = socket_hint(self.asked.query.unmet)
            yield from (NOTHING, *hint, *applications(self.asked.agents))

    def _kind(self, record: RequestRecord) -> str:
        query, own = self.asked.query, self.asked.own
        if record.outcome.code == UNMATCHED and record.test_id == query.test_id:
            return REFUSED_STRICT
        if record.id in query.decisions:
            return OWNED
        if self._taken(record) is not None:
            return TAKEN
        if record.test_id not in (UNSET, query.test_id):
            # What a shared route decides without a context is the application's own.
            is_foreign = bool(own) and record.has_context is True and record.test_id not in own
            return FOREIGN if record.shared is True or is_foreign else OTHERS
        return SHARED if record.shared is True else self._undecided(record)

    def _undecided(self, record: RequestRecord) -> str:
        """Return the kind of a request that no route decided."""
        match record.outcome.kind:
            case "error" if record.outcome.code == "ambiguous_route":
                return REFUSED
            case "error" if record.outcome.code == UNMATCHED:
                return REFUSED_UNOWNED
            case "passthrough":
                unowned = self.tagged and record.test_id is UNSET
                within = _is_within(record.request.url)
                return WITHIN if within else UNOWNED if unowned else NETWORK
            case "pending":
                return WAITING
            case _:
                return FAILED

    def _line(self, record: RequestRecord, kind: str) -> Wording:
        request = Wording(f"{record.request.method} ", shown_url(record.request.url, LONGEST_TEXT))
        client = f"client {record.client_id}"
        if kind == REFUSED:
            return joined(", ", [request, client, *self._rivals(record)])
        if kind == REFUSED_UNOWNED:
            return joined(", ", [request, client])
        status, decision = self._end(record)
        parts = [request, status, client, decision]
        if kind in (OTHERS, TAKEN):
            ended = ", which had ended" if record.late is True and record.has_context else ""
            parts.append(f"test {_test(record.title, record.path)}{ended}")
            if route := self._taken(record):
                parts.append(f"route {route}")
        elif kind == FAILED and not decision:
            parts.append(str(record.outcome.code or record.outcome.kind))
        elif kind == OWNED and record.other_tests:
            parts.append(_of_others(record.other_tests))
        return joined(", ", [part for part in parts if part])

    def _end(self, record: RequestRecord) -> tuple[str, str]:
        """Return what the application got, and the decision of this test's route, if any."""
        head = record.outcome.response
        status = "no response" if head is UNSET else str(head.status)
        decision = self.asked.query.decisions.get(record.id, "")
        if record.outcome.error_code == "aborted" and decision[:5] != "abort":
            # The test's handler decided too late, or not at all.
            return "no response", _GIVEN_UP
        failure = _failure(record)
        if len(failure) > _LONGEST_REASON:
            failure = "broken off, see the errors"
        return f"{status} ({failure})" if failure else status, decision

    def _taken(self, record: RequestRecord) -> str | None:
        """Return the route of this test that matched a request with another test's context."""
        routes = self.asked.query.routes
        return next((routes[each] for each in record.also_matched or () if each in routes), None)

    def _rivals(self, record: RequestRecord) -> list[str]:
        rivals = {
            f"with {_test(each.title, each.file)} (worker {each.worker_id})"
            for each in record.outcome.matches or ()
            if each.test_id != self.asked.query.test_id
        }
        return sorted(rivals)

    def _unmet(self) -> Iterator[str]:
        """List the routes that no request matched, with the nearest requests."""
        claimed = [*self.kinds[REFUSED], *self.kinds[TAKEN]]
        met = {each for record in claimed for each in record.also_matched or ()}
        met |= {each.route_id for record in claimed for each in record.outcome.matches or ()}
        unmatched = {record.id for kind in _UNMATCHED for record in self.kinds[kind]}
        for route, found in zip(self.asked.query.unmet, self.similar, strict=False):
            if route.route_id in met:
                continue
            yield free_text(route.text)
            # They are another test's own, or the application has mixed up two contexts.
            yield from (Wording("  ", each.text) for each in found.requests if each.foreign)
            for each in found.requests:
                if each.id in unmatched and _is_near(each):
                    yield Wording("  ", each.text)
        if (more := len(self.asked.query.unmet) - len(self.similar)) > 0:
            yield f"and {more} more routes"


def _is_near(request: SimilarRequest) -> bool:
    """Return whether one part keeps a request from a route; of others the reasons tell nothing."""
    return len(request.differs) == 1 or (request.before and not request.differs)


def _is_within(url: str) -> bool:
    """Return whether a request stays within the application: at loopback, or a name without a dot.

    Where the process of the tests is attached, so are the calls of the test itself.
    """
    parts = url_parts(url)
    return parts is not None and is_under_test((), parts.host, parts.port)


def _failure(record: RequestRecord) -> str:
    """Return why the answer broke off, or why there was none from the server, if it is known."""
    for event in record.events:
        if event.kind == "broken_off":
            return event.detail or ""
    error = upstream_error(record.events)
    return "" if error is UNSET else " ".join(error.split()) or NO_REASON


def _counted(lines: Sequence[str]) -> Iterator[str]:
    """Yield each line once, with the number of its repeats."""
    texts: dict[str, str] = {}
    counts: dict[str, int] = {}
    for line in lines:
        # As texts they do not have the values in which they may differ.
        key = unredacted(line)
        texts.setdefault(key, line)
        counts[key] = counts.get(key, 0) + 1
    for key, text in [*texts.items()][:MOST_LINES]:
        times = f" ({counts[key]} times)" if counts[key] > 1 else ""
        yield Wording("  ", text, times)
    if rest := sum([*counts.values()][MOST_LINES:]):
        yield f"  and {rest} more"


def _test(title: object, file: object) -> str:
    return f"{title!r} in {file}" if file else repr(title)


def _of_others(count: int) -> str:
    """Say that the test got a request by its URL alone, while others ran."""
    others = "another test" if count == 1 else f"{count} other tests"
    return f"it came without a context while {others} ran, and may not be this test's"
