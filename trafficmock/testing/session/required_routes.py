"""Routes that a request has to meet: a test with one that none has met fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trafficmock.testing.errors import ConnectionLostError, UnmetRouteError
from trafficmock.testing.promise import mapped, settled
from trafficmock.testing.session.traffic_report import unmet_routes

if TYPE_CHECKING:
    from trafficmock.testing.promise import Promise
    from trafficmock.testing.session.handlers.http_routes import RouteEntry
    from trafficmock.testing.session.session import Session


def check(session: Session) -> Promise[None]:
    """Add an error to the session for the required routes that no request has met.

    Only the first call for a session does so (``judged``); an adapter prevents it if the test has
    failed anyway. Routes that the test has removed do not count.

    :returns: a promise that is resolved when the error, if there is one, has been added. It is
        rejected where the connection is lost.
    """
    if session.judged or not any(map(_is_missed, session.http.live)):
        session.judged = True
        return settled(None)
    session.judged = True
    try:
        # The answer of the proxy comes after what it reports of its own answers.
        lines = unmet_routes(session, _is_missed)
    except ConnectionLostError:
        return settled(None)  # the end of the test reports the loss
    return mapped(lines, lambda found: _add(session, found))


def _is_missed(entry: RouteEntry) -> bool:
    return entry.required and not entry.handled


def _add(session: Session, lines: list[str]) -> None:
    if lines:
        session.errors.append(UnmetRouteError("\n".join(lines)))
