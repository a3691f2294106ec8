"""Routes that a request has to meet: a test with one that none has met fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trafficmock.testing.errors import (
    ConnectionLostError,
    UnmetRouteError,
    UnusedReplayWarning,
)
from trafficmock.testing.promise import Promise, mapped, settled
from trafficmock.testing.session.traffic_report import unmet_routes

if TYPE_CHECKING:
    from trafficmock.testing.session.handlers.http_routes import RouteEntry
    from trafficmock.testing.session.session import Session

_UNUSED = (
    "the replay has answered no request of an application, so the test may pass without one. What "
    "the process of the tests sends to its own machine is only answered by a route whose URL names "
    "its origin"
)


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
        text = unmet_routes(session, _is_missed)
    except ConnectionLostError:
        return settled(None)  # the end of the test reports the loss
    return mapped(text, lambda found: _add(session, found))


def unused_replays(session: Session) -> list[UnusedReplayWarning]:
    """Return a warning for each HAR of a test that has answered nothing: it may need none.

    Routes that the test has removed do not count, and neither do those that several tests share.
    """
    if session.info.shared:
        return []
    met = {each.place for each in session.http.live if each.handled}
    return [
        UnusedReplayWarning(f"{each.name} of {session.info.title}: {_UNUSED}")
        for each in session.http.live
        if each.har is not None and not each.handled and each.place not in met
    ]


def _is_missed(entry: RouteEntry) -> bool:
    return entry.required and not entry.handled


def _add(session: Session, text: str) -> None:
    if text:
        session.said_unmet = True
        session.errors.append(UnmetRouteError(text))
