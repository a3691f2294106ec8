"""The report of a test's traffic, a text for the report of its failure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from attrs import define, field
from msgspec import UNSET

from trafficmock.matching.host_pattern import is_under_test
from trafficmock.matching.url_parts import url_parts
from trafficmock.testing.promise import all_of, mapped
from trafficmock.testing.session.handlers.routed_request import GIVEN_UP
from trafficmock.testing.session.observation.diagnosis import regex_hint, scheme_hint
from trafficmock.wire.outbound import UNMATCHED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from trafficmock.testing.promise import Promise
    from trafficmock.testing.session.handlers.http_routes import RouteEntry
    from trafficmock.testing.session.observation.request_state import RequestState
    from trafficmock.testing.session.observation.traffic import RecordedRequest
    from trafficmock.testing.session.session import Session
    from trafficmock.wire.payloads.similar_requests import SimilarRequest

T = TypeVar("T")

TITLE = "traffic of this test"
"""The title of the report in the failure of a test."""

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
UNKNOWN = "not of this test"
SHARED = "decided by a route that tests share"
FOREIGN = "made for other tests"
KINDS = (
    *(OWNED, SHARED, TAKEN, OTHERS, REFUSED, REFUSED_STRICT, REFUSED_UNOWNED),
    *(FAILED, NETWORK, UNOWNED, WITHIN, WAITING, UNKNOWN, FOREIGN),
)
COUNTED = (REFUSED_STRICT,)
"""Kinds of which only the number is reported: each has an error of its own."""

_LONGEST_REASON = 100
"""The most characters of why an answer broke off; an error of the test has a longer one."""


def traffic(session: Session) -> Promise[str]:
    """Return a promise of the report: connected applications, requests by kind, unused routes.

    It is rejected with :class:`~trafficmock.testing.errors.ConnectionLostError` where the
    connection is lost.
    """
    return _reported(session, lambda report: "\n".join(report.lines()))


def unmet_routes(session: Session, wanted: Callable[[RouteEntry], bool]) -> Promise[list[str]]:
    """Return a promise of lines about the routes that no request met, with the nearest requests.

    :param wanted: which routes; it is asked when all that the proxy has reported is known.
    """
    return _reported(session, lambda report: [*report.unmet(wanted)])


def _reported(session: Session, read: Callable[[_Report], T]) -> Promise[T]:
    """Ask the proxy what came, and what differs from the routes that no request met."""
    idle = [route for route in session.http.live if not route.handled]
    diagnosis = session.observation.diagnosis([(each.matcher.wire, each.began) for each in idle])
    seen = session.observation.all()

    def report(_: None) -> T:
        found = diagnosis.value
        rows = [each.requests for each in found.found]
        similar = dict(zip((route.id for route in idle), rows, strict=False))
        return read(_Report(session, seen.value, found.applications, similar))

    return mapped(all_of([diagnosis, seen]), report)


@define
class _Report:
    """The lines of one report.

    :param seen: the requests since the test began, oldest first.
    :param applications: lines about the connected applications.
    :param similar: the requests that came instead, by the id of the route that none met.
    :ivar tagged: whether a request of this test came with its context.
    :ivar kinds: the requests by kind.
    """

    session: Session
    seen: Sequence[RequestState]
    applications: Sequence[str]
    similar: Mapping[str, Sequence[SimilarRequest]]
    tagged: bool = field(init=False)
    kinds: dict[str, list[RequestState]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        entries = self.session.recorded.entries.values()
        self.tagged = self.session.tagged or any(
            entry.test_id == self.session.id and entry.outcome.kind == "passthrough"
            for entry in entries
        )
        self.kinds = {kind: [] for kind in KINDS}
        for request in self.seen:
            self.kinds[self._kind(request)].append(request)

    def lines(self) -> Iterator[str]:
        yield from self.applications
        yield from map(str, self.session.warnings)
        if not self.seen:
            yield "No request came since the test began."
        # Where this test's requests carry its context, those that others decided are not its own.
        left_out = (FOREIGN, OTHERS) if self.tagged else (FOREIGN,)
        for kind, requests in self.kinds.items():
            if kind in left_out:
                continue
            if requests:
                yield f"{kind}: {len(requests)}"
            if kind not in COUNTED:
                yield from _counted([self._line(each, kind) for each in requests])
        # What an error of the test says already is not said again.
        said = self.session.said_unmet
        yield from self.unmet(lambda route: not (route.handled or (said and route.required)))
        if self.session.recorded.capture:
            yield f"(the proxy's history keeps only: {self.session.recorded.capture})"

    def _entry(self, request: RequestState) -> RecordedRequest | None:
        return self.session.recorded.entries.get(request.id)

    def _kind(self, request: RequestState) -> str:
        if request.id in self.session.refused:
            return REFUSED_STRICT
        if request.id in self.session.http.decisions:
            return OWNED
        entry = self._entry(request)
        if entry is None:
            # The history has dropped it.
            return UNKNOWN
        if self._taken(entry) is not None:
            return TAKEN
        if entry.test_id not in (UNSET, self.session.id):
            # What a shared route decides without a context is the application's own.
            is_of_others = entry.shared or self.session.is_foreign(entry.id)
            return FOREIGN if is_of_others else OTHERS
        return SHARED if entry.shared else self._undecided(request, entry)

    def _undecided(self, request: RequestState, entry: RecordedRequest) -> str:
        """Return the kind of a request that no route decided."""
        match entry.outcome.kind:
            case "error" if entry.outcome.code == "ambiguous_route":
                return REFUSED
            case "error" if entry.outcome.code == UNMATCHED:
                return REFUSED_UNOWNED
            case "passthrough":
                unowned = self.tagged and entry.test_id is UNSET
                return WITHIN if _is_within(request.url) else UNOWNED if unowned else NETWORK
            case "pending":
                return WAITING
            case _:
                return FAILED

    def _line(self, request: RequestState, kind: str) -> str:
        entry = self._entry(request)
        status, decision = self._end(request, entry)
        parts = [str(request), status, f"client {request.client_id}", decision]
        if entry is not None and kind in (OTHERS, TAKEN):
            ended = ", which had ended" if entry.late and entry.has_context else ""
            parts.append(f"test {_test(entry.title, entry.path)}{ended}")
            if (route := self._taken(entry)) is not None:
                parts.append(f"route {route.matcher}")
        elif entry is not None and kind == REFUSED:
            parts = [str(request), f"client {request.client_id}", *_rivals(entry, self.session.id)]
        elif kind == REFUSED_UNOWNED:
            parts = [str(request), f"client {request.client_id}"]
        elif entry is not None and kind == FAILED and not decision:
            parts.append(str(entry.outcome.code or entry.outcome.kind))
        elif entry is not None and kind == OWNED and entry.other_tests:
            parts.append(_of_others(entry.other_tests))
        return ", ".join(part for part in parts if part)

    def _end(self, request: RequestState, entry: RecordedRequest | None) -> tuple[str, str]:
        """Return what the application got, and the decision of this test's handler, if any."""
        response = request.existing()
        head = None if response is None else response.wire
        if head is None and entry is not None and entry.outcome.response is not UNSET:
            # Of a stream, or of an answer that a fault broke off.
            head = entry.outcome.response
        status = "no response" if head is None else str(head.status)
        decision = self.session.http.decisions.get(request.id, "")
        is_aborted = entry is not None and entry.outcome.error_code == "aborted"
        if is_aborted and decision[:5] != "abort":
            # The test's handler decided too late, or not at all.
            return "no response", GIVEN_UP
        failure = request.failure if entry is None else entry.broken_by or request.failure
        if len(failure) > _LONGEST_REASON:
            failure = "broken off, see the errors"
        return f"{status} ({failure})" if failure else status, decision

    def _taken(self, entry: RecordedRequest) -> RouteEntry | None:
        """Return the route of this test that matched a request with another test's context."""
        known = self.session.http.known
        return next((known[each] for each in entry.also_matched if each in known), None)

    def unmet(self, wanted: Callable[[RouteEntry], bool]) -> Iterator[str]:
        """List those of some routes that matched no request, with the nearest requests."""
        entries = [self._entry(each) for kind in (REFUSED, TAKEN) for each in self.kinds[kind]]
        met = {each for entry in entries if entry is not None for each in entry.also_matched}
        met |= {m.route_id for e in entries if e is not None for m in e.outcome.matches or ()}
        for route in self.session.http.live:
            if wanted(route) and route.id not in met:
                yield f"no request met the route {route.matcher}: {route.name}"
                yield from self._why(route)

    def _why(self, route: RouteEntry) -> Iterator[str]:
        similar = self.similar.get(route.id, ())
        # They are another test's own, or the application has mixed up two contexts.
        yield from (f"  {each.text}" for each in similar if each.foreign)
        written = route.matcher.url if isinstance(route.matcher.url, str) else None
        if hint := regex_hint(written):
            yield f"  {hint}"
            return
        if hint := scheme_hint(written, self.session.base_url):
            yield f"  {hint}"
        unmatched = {
            each.id
            for kind in (NETWORK, UNOWNED, WITHIN, REFUSED_UNOWNED)
            for each in self.kinds[kind]
        }
        for each in similar:
            if len(each.differs) == 1 and each.id in unmatched:
                yield f"  {each.text}"


def _is_within(url: str) -> bool:
    """Return whether a request stays within the application: at loopback, or a name without a dot.

    Where the process of the tests is attached, so are the calls of the test itself.
    """
    parts = url_parts(url)
    return parts is not None and is_under_test((), parts.host, parts.port)


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


def _counted(lines: Sequence[str]) -> Iterator[str]:
    """Yield each line once, with the number of its repeats."""
    counts = Counter(lines)
    for line, count in [*counts.items()][:MOST_LINES]:
        yield f"  {line}{_times(count)}"
    if rest := sum([*counts.values()][MOST_LINES:]):
        yield f"  and {rest} more"


def _test(title: object, file: object) -> str:
    return f"{title!r} in {file}" if file else repr(title)


def _of_others(count: int) -> str:
    """Say that the test got a request by its URL alone, while others ran."""
    others = "another test" if count == 1 else f"{count} other tests"
    return f"it came without a context while {others} ran, and may not be this test's"


def _rivals(entry: RecordedRequest, test_id: str) -> Iterator[str]:
    rivals = {
        f"with {_test(each.title, each.file)} (worker {each.worker_id})"
        for each in entry.outcome.matches or ()
        if each.test_id != test_id
    }
    yield from sorted(rivals)
