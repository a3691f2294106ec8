"""The traffic around a test, as text for the report of its failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trafficmock.testing.errors import ConnectionLostError
from trafficmock.testing.observing import Observing

if TYPE_CHECKING:
    from trafficmock.testing.connection import Connection
    from trafficmock.testing.request_state import RequestState
    from trafficmock.testing.session import Session

_MOST_LINES = 50


def traffic_of(connection: Connection, session: Session) -> str:
    """List what a test owned and what else came, oldest first."""
    try:
        seen = connection.background.wait_for(lambda: Observing(session).requests(None))
    except ConnectionLostError as error:
        return str(error)
    owned = [each for each in seen if each.id in session.http.decisions]
    others = [each for each in seen if each.id not in session.http.decisions]
    lines = [f"owned by this test: {len(owned) or 'nothing'}"]
    lines += [_line(each, session.http.decisions[each.id]) for each in owned]
    lines.append(f"passed through, or another test's: {len(others) or 'nothing'}")
    lines += [_line(each, "") for each in others]
    lines += _unmet(session)
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES:] = [f"and {len(lines) - _MOST_LINES} more"]
    if session.memory.capture:
        lines.append(f"(the proxy's history keeps only: {session.memory.capture})")
    return "\n".join(lines)


def _unmet(session: Session) -> list[str]:
    """List the routes that decided nothing: often the URL is not quite the request's."""
    unmet = [each for each in session.http.live if not each.handled]
    return [f"no request met the route {each.matcher}: {each.name}" for each in unmet]


def _line(request: RequestState, decision: str) -> str:
    response = request.existing()
    status = "no response" if response is None else str(response.wire.status)
    # The first line: an assertion's explanation has many, and stands in the error itself.
    parts = [f"  {request}", status, f"client {request.client_id}", *decision.splitlines()[:1]]
    return ", ".join(part for part in parts if part)
