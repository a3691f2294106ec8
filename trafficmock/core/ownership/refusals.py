"""The errors for requests that strict mode refuses, and the workers that get them."""

from __future__ import annotations

from attrs import define
from msgspec import UNSET

from trafficmock.core import error_messages
from trafficmock.core.effects import Moment
from trafficmock.core.ownership.contexts import title_of_ended
from trafficmock.core.ownership.differences import LONGEST_TEXT, Nearest, nearest_route
from trafficmock.core.ownership.registry import compile_route
from trafficmock.core.ownership.strictness import Refusal, Strictness
from trafficmock.core.ownership.unowned_refusals import UnownedRefusals
from trafficmock.core.state.lifecycle import Owned
from trafficmock.core.state.registered import Kind, RegisteredRoute
from trafficmock.matching.patterns.match_result import YES
from trafficmock.matching.url_parts import shown_url
from trafficmock.texts.wording import Wording, unredacted
from trafficmock.wire.features import STRICT
from trafficmock.wire.outbound import UNMATCHED, ProxyError
from trafficmock.wire.payloads.refused_request import (
    NearestRoute,
    UnmatchedDetail,
    UnmatchedRequest,
)

MOST_NOTICES = 1000
"""The most refusals of one test that its worker gets: an application may repeat a request."""


@define
class Refusals:
    """Makes the errors of refused requests, and counts refusals."""

    strictness: Strictness
    unowned: UnownedRefusals

    def message(
        self,
        kind: Kind,
        pending: Owned,
        refusal: Refusal,
        now: Moment,
        *,
        has_left: bool = False,
    ) -> tuple[str, tuple[str, ProxyError] | None]:
        """Make the error of a refused request.

        :param has_left: whether it went past the proxy, where it could not be refused.
        :returns: the text for the application; and, for the worker of the test that the request
            belongs to, the connection and the message, ``None`` without such a worker.
        """
        test = refusal.test
        if test is not None and STRICT in test.worker.features:
            test.refused += 1
            if test.refused > MOST_NOTICES:
                return self._text(pending, refusal, None, has_left=has_left), None
            nearest = None if has_left else self._nearest(kind, pending, refusal)
            text = self._text(pending, refusal, nearest, has_left=has_left)
            detail = self._detail(kind, pending, refusal, nearest)
            told = Wording(text, " ", error_messages.sent_by(pending.agent))
            return text, (test.worker.id, ProxyError(UNMATCHED, told, test.id, detail))
        text = self._of_nobody(kind, pending, refusal, now.epoch_ms, has_left=has_left)
        return text, None

    def _of_nobody(
        self, kind: Kind, pending: Owned, refusal: Refusal, at: int, *, has_left: bool
    ) -> str:
        url = shown_url(pending.url, LONGEST_TEXT)
        known = self.unowned.again((kind, pending.method, unredacted(url), pending.client_id), at)
        if known is not None:
            return known
        nearest = None if has_left else self._nearest(kind, pending, refusal)
        text = self._text(pending, refusal, nearest, has_left=has_left)
        sender = error_messages.sender(pending.agent)
        preset = UNSET if pending.framework is None else pending.framework.preset
        row = UnmatchedRequest(
            pending.method, url, pending.client_id, kind, 1, text, at, at, sender, preset
        )
        if not self._is_after_the_tests(row):
            self.unowned.add(row, pending.agent)
        return text

    def _is_after_the_tests(self, row: UnmatchedRequest) -> bool:
        """Return whether only shared routes would have had a request that have just ended.

        A worker removes its routes before it closes its connection, and with it the strict run.
        """
        registry = self.strictness.registry
        if not registry.ended_shared or any(not test.shared for test in registry.tests.values()):
            return False
        return any(excuses(route, row) for route in registry.ended_shared)

    def _nearest(self, kind: Kind, pending: Owned, refusal: Refusal) -> Nearest | None:
        if _is_tunnel(pending) or pending.framework is not None:
            return None
        candidates = self.strictness.candidates(refusal.test, kind)
        if refusal.test is None and pending.context_test is not None:
            # Its own test has ended: the routes of those that run say nothing about it.
            candidates = (each for each in candidates if each.test is not None and each.test.shared)
        return nearest_route(self.strictness.registry, candidates, pending, refusal.parts)

    def _text(
        self, pending: Owned, refusal: Refusal, nearest: Nearest | None, *, has_left: bool
    ) -> str:
        subject = pending.named(shown_url(pending.url, LONGEST_TEXT))
        if pending.framework is not None:
            return error_messages.of_framework(
                subject, refusal, pending.framework, has_left=has_left
            )
        if has_left:
            return error_messages.went_past(subject, refusal)
        text = error_messages.unmatched(
            subject,
            refusal,
            nearest,
            ended=title_of_ended(pending.context_test),
            is_tunnel=_is_tunnel(pending),
        )
        if pending.lost is None or refusal.test is not None:
            return text
        return Wording(text, " ", pending.lost.how)

    def _detail(
        self, kind: Kind, pending: Owned, refusal: Refusal, nearest: Nearest | None
    ) -> UnmatchedDetail:
        is_last = refusal.test is not None and refusal.test.refused == MOST_NOTICES
        return UnmatchedDetail(
            pending.id,
            kind,
            pending.method,
            shown_url(pending.url, LONGEST_TEXT),
            pending.client_id,
            list(refusal.allow),
            UNSET if nearest is None else _described(nearest),
            is_last or UNSET,
            error_messages.sender(pending.agent),
        )


def excuses(route: RegisteredRoute, row: UnmatchedRequest) -> bool:
    """Return whether a refused request is one for a route, as far as the list tells.

    It has no bodies and headers: a route with conditions on more than the URL excuses nothing.
    """
    matcher = compile_route(route.matcher)
    is_of_kind = matcher.beside is None and row.kind == route.kind
    return is_of_kind and matcher.judge(unredacted(row.url), row.method, row.client_id) is YES


def _is_tunnel(pending: Owned) -> bool:
    """Return whether a tunnel was refused: only a tunnel has the method CONNECT."""
    return pending.method == "CONNECT"


def _described(nearest: Nearest) -> NearestRoute:
    route = nearest.route
    return NearestRoute(
        route.id,
        route.test_id,
        route.matcher,
        nearest.differs.part,
        UNSET if route.place is None else route.place,
        nearest.differs.found,
    )
