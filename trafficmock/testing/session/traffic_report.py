"""What came to a test and what did not, in the proxy's words, for the report of its failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from trafficmock.testing.promise import Promise, chained, mapped, settled
from trafficmock.testing.session.observation.diagnosis import regex_hint, scheme_hint
from trafficmock.wire.payloads.unmet_routes import UnmetRoute

if TYPE_CHECKING:
    from trafficmock.testing.session.handlers.http_routes import RouteEntry
    from trafficmock.testing.session.session import Session

TITLE = "traffic of this test"
"""The title of the report in the failure of a test."""


def traffic(session: Session) -> Promise[str]:
    """Return a promise of the report: connected applications, requests by kind, unused routes.

    It is rejected with :class:`~trafficmock.testing.errors.ConnectionLostError` where the
    connection is lost.
    """

    def unsaid(route: RouteEntry) -> bool:
        # What an error of the test says already is not said again.
        return not (route.handled or (session.said_unmet and route.required))

    asked = chained(session.client.barrier(), lambda _: _ask(session, unsaid))
    return mapped(asked, lambda text: "\n".join([*map(str, session.warnings), text]))


def unmet_routes(session: Session, wanted: Callable[[RouteEntry], bool]) -> Promise[str]:
    """Return a promise of lines about the routes that no request met, with the nearest requests.

    :param wanted: which routes; it is asked when all that the proxy has reported is known.
    :returns: empty text if there are none.
    """
    barrier = session.client.barrier()
    return chained(
        barrier,
        lambda _: (
            _ask(session, wanted, only_unmet=True)
            if any(map(wanted, session.http.live))
            else settled("")
        ),
    )


def _ask(
    session: Session, wanted: Callable[[RouteEntry], bool], *, only_unmet: bool = False
) -> Promise[str]:
    unmet = [_unmet(session, each) for each in session.http.live if wanted(each)]
    answer = session.observation.diagnosis(unmet, only_unmet=only_unmet)
    return mapped(answer, lambda answer: answer.text)


def _unmet(session: Session, route: RouteEntry) -> UnmetRoute:
    written = route.matcher.url if isinstance(route.matcher.url, str) else None
    hint = regex_hint(written) or scheme_hint(written, session.base_url)
    return UnmetRoute(
        route.matcher.wire,
        session.observation.proxy_time(route.began),
        route_id=route.id,
        text=f"no request met the route {route.matcher}: {route.name}" + (hint and f"\n  {hint}"),
    )
