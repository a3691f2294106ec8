"""Settles the requests, claims and WebSockets of tests that have ended."""

from __future__ import annotations

from collections import deque
from functools import partial
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.core import error_messages
from trafficmock.wire.outbound import ProxyError, TestUnregistered

if TYPE_CHECKING:
    from trafficmock.core.effects import EffectList
    from trafficmock.core.http.decisions import Decisions
    from trafficmock.core.http.request_routing import RequestRouting
    from trafficmock.core.http.streamed_replies import StreamedReplies
    from trafficmock.core.shared_state import SharedState
    from trafficmock.core.state.lifecycle import PendingRequest
    from trafficmock.core.state.peers import Worker
    from trafficmock.core.state.registered import Kind, RegisteredRoute, RegisteredTest
    from trafficmock.core.websocket.websocket_routing import WebSocketRouting


@define
class UnregisteredTest:
    """A test that is no longer registered.

    :param worker_lost: whether it ended because its worker disconnected.
    :param unsettled: the number of its requests and WebSockets that have failed so far.
    """

    test: RegisteredTest
    worker_lost: bool
    unsettled: int = 0

    @property
    def is_clear(self) -> bool:
        """Whether no request, claim or WebSocket waits for the test."""
        return not (self.test.requests or self.test.claims or self.test.sockets)


@define
class EndedTests:
    """Settles the requests, claims and WebSockets of ended tests, then acknowledges the end.

    Many requests are settled over several iterations of the reactor, since other requests wait for
    their decisions meanwhile. Until then the test may still decide about the requests it owns.

    Shared routes serve other workers' tests, too: their running handlers may still decide, for
    ``--claim-timeout-ms``.

    :param at_once: the number of requests, claims and WebSockets in one iteration.
    :ivar deciding: the ended tests with such handlers, and the end of their time in monotonic
        seconds, the earliest first.
    """

    state: SharedState
    decisions: Decisions
    streams: StreamedReplies
    routing: dict[Kind, RequestRouting | WebSocketRouting]
    sockets: WebSocketRouting
    at_once: int
    waiting: deque[UnregisteredTest] = field(factory=deque)
    deciding: dict[RegisteredTest, float] = field(factory=dict)
    _settled: dict[RegisteredTest, None] = field(factory=dict)
    """Those of which a request was settled since the last look, in order."""

    def add(self, tests: list[RegisteredTest], out: EffectList, *, worker_lost: bool) -> None:
        """Settle the requests, claims and WebSockets of tests, ``at_once`` of them now."""
        self.streams.tests_ended(tests, out, worker_lost=worker_lost)
        for test in tests:
            if test.shared and not worker_lost and _runs_handlers(test):
                self.deciding[test] = out.now.seconds + self.state.settings.claim_timeout
                test.when_settled = partial(self._settled.setdefault, test)
                self.state.alarm.need(self.deciding[test], out)
        ready = [test for test in tests if test not in self.deciding]
        self._settle(ready, out, worker_lost=worker_lost)

    def _settle(self, tests: list[RegisteredTest], out: EffectList, *, worker_lost: bool) -> None:
        self.waiting.extend(UnregisteredTest(test, worker_lost) for test in tests)
        self.go_on(out)
        if self.waiting:
            self.state.alarm.need(out.now.seconds, out)

    def next_deadline(self) -> float | None:
        """Return the next end of the time of running handlers, in monotonic seconds."""
        return next(iter(self.deciding.values()), None)

    def handlers_decided(self, out: EffectList) -> None:
        """Settle ended tests whose handlers have decided, or whose time for it is over."""
        overdue = takewhile(lambda each: each[1] <= out.now.seconds, self.deciding.items())
        decided = (test for test in self._settled if not _runs_handlers(test))
        # Not all that wait are looked at: this is done after each message of any client.
        ready = list(dict.fromkeys([*(test for test, _ in overdue), *decided]))
        self._settled.clear()
        for test in ready:
            self._forget(test)
        if ready:
            self._settle(ready, out, worker_lost=False)

    def _forget(self, test: RegisteredTest) -> None:
        del self.deciding[test]
        self._settled.pop(test, None)
        test.when_settled = None

    def worker_lost(self, worker: Worker, out: EffectList) -> None:
        """Settle the ended tests of a worker that has disconnected meanwhile."""
        lost = [test for test in self.deciding if test.worker is worker]
        for test in lost:
            self._forget(test)
        self._settle(lost, out, worker_lost=True)

    def go_on(self, out: EffectList) -> None:
        """Settle the next ``at_once`` requests, claims and WebSockets of ended tests."""
        left = self.at_once
        while self.waiting:
            ended = self.waiting[0]
            left -= self._answer(ended, left, out)
            if not ended.is_clear:
                return
            self.waiting.popleft()
            if ended.unsettled:
                happened = "lost its worker" if ended.worker_lost else "ended"
                who = f"the test {ended.test}"
                out.note("info", error_messages.left_unsettled(who, happened, ended.unsettled))
            if not ended.worker_lost:
                out.send(ended.test.worker.id, TestUnregistered(ended.test.id))

    def _answer(self, ended: UnregisteredTest, most: int, out: EffectList) -> int:
        test = ended.test
        why = error_messages.worker_lost if ended.worker_lost else error_messages.test_ended
        owned = list(islice(test.requests.values(), most))
        for pending in owned:
            if pending.chain is not None and not ended.worker_lost:
                self._tell_of(pending, pending.chain.route, test, out)
            self.decisions.fail(pending, "disconnected", why(str(pending), test), out)
        done = len(owned)
        ended.unsettled += done
        asked = list(islice(test.claims.values(), most - done))
        for claim in asked:
            if self.state.claims.give_up_on(test, claim):
                self.routing[claim.kind].claimed(claim, out)
        done += len(asked)
        if not ended.worker_lost:
            return done + self.sockets.test_ended(test, most - done, out)
        sockets = self.sockets.worker_lost(test, most - done, out)
        ended.unsettled += sockets
        return done + sockets

    def _tell_of(
        self,
        pending: PendingRequest,
        route: RegisteredRoute | None,
        test: RegisteredTest,
        out: EffectList,
    ) -> None:
        """Fail a test that ends before a decision of it was made or sent, unless it ignores errors.

        :param route: the route whose handler runs; ``None`` before the first one.
        """
        if route is None or not route.ignores_errors:
            place = None if route is None else route.place
            is_delayed = self.state.delayed.has(pending)
            why = error_messages.still_delayed if is_delayed else error_messages.still_running
            text = why(str(pending), test, place)
            out.send(test.worker.id, ProxyError("disconnected", text, test.id))


def _runs_handlers(test: RegisteredTest) -> bool:
    """Return whether the worker runs a handler for a request of the test."""
    return any(
        pending.chain is not None and pending.chain.route is not None
        for pending in test.requests.values()
    )
