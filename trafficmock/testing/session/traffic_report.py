"""The traffic around a test, as text for the report of its failure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from attrs import define, field
from msgspec import UNSET

from trafficmock.testing.session.diagnosis import connected, differing, regex_hint
from trafficmock.testing.session.promise import all_of, mapped
from trafficmock.testing.session.routed_request import GIVEN_UP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trafficmock.testing.session.http_routes import RouteEntry
    from trafficmock.testing.session.promise import Promise
    from trafficmock.testing.session.request_state import RequestState
    from trafficmock.testing.session.session import Session
    from trafficmock.testing.session.traffic import RecordedRequest
    from trafficmock.wire.outbound import ConnectedClient

MOST_LINES = 20
"""Of one kind of request: the first ones tell most."""

OWNED = "decided by this test"
OTHERS = "decided by another test"
REFUSED = "refused, because several tests have a route for it"
FAILED = "failed"
NETWORK = "without a route of this test: went to the real network"
WAITING = "not settled yet"
UNKNOWN = "not of this test"
KINDS = (OWNED, OTHERS, REFUSED, FAILED, NETWORK, WAITING, UNKNOWN)


def traffic(session: Session) -> Promise[str]:
    """Promise what a test owned, what else came, and which applications are connected.

    It fails with :class:`~trafficmock.testing.errors.ConnectionLostError` where the proxy is
    gone.
    """
    agents, seen = session.observation.agents(), session.observation.requests(None)
    return mapped(
        all_of([agents, seen]),
        lambda _: "\n".join(_Report(session, seen.value, agents.value).lines()),
    )


@define
class _Report:
    """The lines of one report.

    :param seen: the requests since the test began, oldest first.
    """

    session: Session
    seen: Sequence[RequestState]
    agents: Sequence[ConnectedClient] | None
    kinds: dict[str, list[RequestState]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.kinds = {kind: [] for kind in KINDS}
        for request in self.seen:
            self.kinds[self._kind(request)].append(request)

    def lines(self) -> Iterator[str]:
        yield from connected(self.agents, heard=bool(self.seen))
        if not self.seen:
            yield "No request came since the test began."
        for kind, requests in self.kinds.items():
            if requests:
                yield f"{kind}: {len(requests)}"
                yield from _counted([self._line(each, kind) for each in requests])
        yield from self._unmet()
        if self.session.recorded.capture:
            yield f"(the proxy's history keeps only: {self.session.recorded.capture})"

    def _entry(self, request: RequestState) -> RecordedRequest | None:
        return self.session.recorded.entries.get(request.id)

    def _kind(self, request: RequestState) -> str:  # noqa: PLR0911 - one answer for each kind
        if request.id in self.session.http.decisions:
            return OWNED
        entry = self._entry(request)
        if entry is None:
            # The history has it no more, or the proxy is not ours.
            return UNKNOWN
        if entry.test_id not in (UNSET, self.session.id):
            return OTHERS
        match entry.outcome.kind:
            case "error" if entry.outcome.code == "ambiguous_route":
                return REFUSED
            case "passthrough":
                return NETWORK
            case "pending":
                return WAITING
            case _:
                return FAILED

    def _line(self, request: RequestState, kind: str) -> str:
        response, entry = request.existing(), self._entry(request)
        status = "no response" if response is None else str(response.wire.status)
        # The first line: an assertion's explanation has many, and stands in the error itself.
        decision = self.session.http.decisions.get(request.id, "").partition("\n")[0]
        if entry is not None and entry.outcome.kind == "aborted" and decision[:5] != "abort":
            # The test's handler decided too late, or not at all.
            status, decision = "no response", GIVEN_UP
        parts = [str(request), status, f"client {request.client_id}", decision]
        if entry is not None and kind == OTHERS:
            parts.append(f"test {entry.title!r} in {entry.path}")
        elif entry is not None and kind == REFUSED:
            parts = [str(request), f"client {request.client_id}", *_rivals(entry, self.session.id)]
        elif entry is not None and kind == FAILED and not decision:
            parts.append(str(entry.outcome.code or entry.outcome.kind))
        return ", ".join(part for part in parts if part)

    def _unmet(self) -> Iterator[str]:
        """List the routes that no request met: often the URL is not quite the request's."""
        refused = {
            match.route_id
            for each in self.kinds[REFUSED]
            if (entry := self._entry(each)) is not None
            for match in entry.outcome.matches or ()
        }
        for route in self.session.http.live:
            if not route.handled and route.id not in refused:
                yield f"no request met the route {route.matcher}: {route.name}"
                yield from self._why(route)

    def _why(self, route: RouteEntry) -> Iterator[str]:
        matcher = route.matcher
        written = matcher.url if isinstance(matcher.url, str) else None
        if hint := regex_hint(written):
            yield f"  {hint}"
            return
        glob = matcher.wire.url_glob
        for each in self.kinds[NETWORK][:MOST_LINES]:
            parts = []
            if isinstance(glob, str) and not matcher.matches_url(each.url):
                parts += differing(glob, each.url)
            if matcher.methods and each.method.upper() not in matcher.methods:
                parts.append("method")
            if matcher.client_ids and each.client_id not in matcher.client_ids:
                parts.append(f"client id {each.client_id!r}")
            if len(parts) == 1:
                yield f"  {each} differs in its {parts[0]}"


def _counted(lines: Sequence[str]) -> Iterator[str]:
    """Write each line once, with how often it stands there."""
    counts = Counter(lines)
    for line, count in [*counts.items()][:MOST_LINES]:
        yield f"  {line}" + (f" ({count} times)" if count > 1 else "")
    if rest := sum([*counts.values()][MOST_LINES:]):
        yield f"  and {rest} more"


def _rivals(entry: RecordedRequest, test_id: str) -> Iterator[str]:
    rivals = {
        f"with {each.title!r} in {each.file} (worker {each.worker_id})"
        for each in entry.outcome.matches or ()
        if each.test_id != test_id
    }
    yield from sorted(rivals)
