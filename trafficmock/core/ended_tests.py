"""What the end of a test does, in this order.

A test ends by ``test:unregister`` (:meth:`EndedTests.unregister`):

1. A strict test waits up to a second until an attached application reports its context, if its
   browser or its client has called an application (``isolation.unseen_contexts``).
2. A test with requests in the hands of its handlers waits up to a second until the agents of these
   requests have sent what they know: an application that has given a request up may have told the
   test's client before the abort came here (:meth:`EndedTests._end_when_heard`).
3. A strict test fails if no application was attached, or none got its context
   (:meth:`EndedTests._fail_unseen`).
4. The test is removed with its routes, waits, context and browser proxy: it owns no further request
   (:meth:`EndedTests._remove`).
5. The answers that its handlers still write are broken off, and fail it
   (:meth:`.StreamedAnswers.break_off_answers_of`).
6. Handlers of *shared* routes that run may decide until the claim timeout, because requests of
   other tests may be with them. So a test with shared routes waits for them.
7. What waits for the test is settled, ``at_once`` in one iteration of the reactor, since other
   requests wait for their decisions meanwhile (:meth:`EndedTests._settle_some`): requests fail with
   ``disconnected``, and each in a chain fails the test, unless its route ignores errors; in claims
   the test counts as one that does not match; WebSockets are closed with 1001. Until the turn of a
   request comes, the test may decide about it.
8. ``test:unregistered`` acknowledges the end.

If the test's worker disconnects (:meth:`EndedTests.worker_lost`), only steps 4, 5 and 7 happen, the
errors name that as the reason, and WebSockets fail. Nobody is there to be told.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from itertools import islice

from attrs import define, field
from msgspec import UNSET

from trafficmock.core import error_messages
from trafficmock.core.answers.streamed_answers import StreamedAnswers
from trafficmock.core.deadlines import Deadline
from trafficmock.core.effects import CloseBrowserProxy, EffectList
from trafficmock.core.http.decisions import Decisions
from trafficmock.core.http.request_routing import RequestRouting
from trafficmock.core.isolation.mixed_contexts import MixedContexts
from trafficmock.core.isolation.unseen_connections import UnseenConnections
from trafficmock.core.isolation.unseen_contexts import UnseenContexts
from trafficmock.core.isolation.wanted_origins import WantedOrigins
from trafficmock.core.local.local_decisions import LocalDecisions
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import PendingRequest
from trafficmock.core.state.peers import Worker
from trafficmock.core.state.registered import Kind, RegisteredRoute, RegisteredTest
from trafficmock.core.waits.waits import Waits
from trafficmock.core.websocket.websocket_routing import WebSocketRouting
from trafficmock.records import TestEnded
from trafficmock.wire.inbound import TestUnregister
from trafficmock.wire.outbound import NO_APPLICATION, ProxyError, TestUnregistered


@define
class UnsettledTest:
    """A test that was removed, and for which something may still wait.

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
    """Ends tests, in the steps that the docstring of this module lists.

    :param at_once: the number of requests, claims and WebSockets in one iteration.
    :ivar unseen_contexts: the tests in step 1.
    :ivar deciding: the tests in step 6, and the end of their time.
    :ivar waiting: the tests in step 7.
    """

    state: SharedState
    decisions: Decisions
    streams: StreamedAnswers
    routing: dict[Kind, RequestRouting | WebSocketRouting]
    sockets: WebSocketRouting
    local: LocalDecisions
    waits: Waits
    wanted_origins: WantedOrigins
    mixed_contexts: MixedContexts
    unseen_connections: UnseenConnections
    at_once: int
    unseen_contexts: UnseenContexts = field(init=False)
    deciding: dict[RegisteredTest, Deadline] = field(init=False, factory=dict)
    waiting: deque[UnsettledTest] = field(init=False, factory=deque)
    _settled: dict[RegisteredTest, None] = field(init=False, factory=dict)
    """The deciding tests of which a request was settled since the last look, in order."""
    _next: Deadline | None = field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        self.unseen_contexts = UnseenContexts(
            self.state.strictness, self.state.deadlines, self.end_seen
        )

    # Events

    def unregister(self, worker: Worker, message: TestUnregister, out: EffectList) -> None:
        """Handle ``test:unregister``; an unknown test counts as ended."""
        test = worker.tests.get(message.test_id)
        if test is not None:
            passed = None if message.passed is UNSET else message.passed
            if message.called is not UNSET:
                self.unseen_contexts.called(test, message.called)
            if not self.unseen_contexts.awaits(test, out, passed=passed):
                self._end_when_heard(test, out, passed=passed)
        elif message.test_id in self.state.registry.tests:
            what = f"to remove the test {message.test_id} of another worker"
            out.note("warn", f"{worker.client_id} wanted {what}")
        else:
            self.state.registry.remove_routes_of(worker, message.test_id)
            out.send(worker.id, TestUnregistered(message.test_id))

    def worker_lost(self, worker: Worker, out: EffectList) -> None:
        """Handle that a worker has disconnected: end its tests, also those that are deciding."""
        for route_id in list(worker.inert):
            self.state.registry.remove_route(worker, route_id)
        tests = list(worker.tests.values())
        for test in tests:
            self._remove(test, out)
        self.local.observers_changed(out)
        deciding = [test for test in self.deciding if test.worker is worker]
        for test in deciding:
            self._wait_no_longer(test)
        self._settle(deciding, out, worker_lost=True)
        self.streams.break_off_answers_of(tests, out, worker_lost=True)
        self._settle(tests, out, worker_lost=True)

    def end_seen(self, out: EffectList) -> None:
        """End the tests that need not wait for their context to be reported any more."""
        for test, passed in self.unseen_contexts.ready(out.now.seconds):
            self._end_when_heard(test, out, passed=passed)

    def settle_decided(self, out: EffectList) -> None:
        """Settle the tests whose handlers have decided."""
        # Not all that wait are looked at: this is done after each message of any client.
        ready = [test for test in self._settled if not _runs_handlers(test)]
        self._settled.clear()
        for test in ready:
            self._wait_no_longer(test)
        if ready:
            self._settle(ready, out, worker_lost=False)

    # Steps

    def _end_when_heard(
        self, test: RegisteredTest, out: EffectList, *, passed: bool | None
    ) -> None:
        """End a test from step 2 on."""

        def end(out: EffectList) -> None:
            if test.worker.tests.get(test.id) is test:
                self._end(test, out, passed=passed)
            else:
                out.send(test.worker.id, TestUnregistered(test.id))

        agents = {each.agent.id for each in test.requests.values() if each.chain is not None}
        self.local.when_heard(test.worker, agents, out, end)

    def _end(self, test: RegisteredTest, out: EffectList, *, passed: bool | None) -> None:
        """End a test from step 3 on."""
        self._fail_unseen(test, out)
        self._remove(test, out, passed=passed)
        self.streams.break_off_answers_of([test], out, worker_lost=False)
        if test.shared and _runs_handlers(test):
            self._let_decide(test, out)
        else:
            self._settle([test], out, worker_lost=False)
        # After the answer, for which the worker waits.
        self.local.observers_changed(out)

    def _fail_unseen(self, test: RegisteredTest, out: EffectList) -> None:
        """Fail a strict test whose requests nothing could see."""
        problem = ""
        if self.state.strictness.saw_no_application(test):
            problem = error_messages.no_application("this strict test")
        elif self.state.strictness.has_unseen_context(test):
            problem = error_messages.unseen_context(test)
        if problem:
            out.send(test.worker.id, ProxyError(NO_APPLICATION, problem, test.id))

    def _remove(self, test: RegisteredTest, out: EffectList, *, passed: bool | None = None) -> None:
        """Remove a test and what belongs to it, so that it owns no further request."""
        if not test.shared:
            out.record(TestEnded(test.id, passed))
        self.state.registry.remove_test(test)
        self.unseen_contexts.forget(test)
        self.mixed_contexts.forget(test)
        self.unseen_connections.forget(test)
        test.is_over = True
        self.waits.end_test(test)
        self.state.strictness.end_test(test)
        self.state.contexts.release(test, out)
        self.wanted_origins.contexts_changed(out)
        if test.has_browser_proxy:
            out.append(CloseBrowserProxy(test.id))

    def _let_decide(self, test: RegisteredTest, out: EffectList) -> None:
        """Let the running handlers of shared routes decide, until the claim timeout."""
        due = out.now.seconds + self.state.settings.claim_timeout
        self.deciding[test] = self.state.deadlines.add(due, partial(self._undecided, test), out)
        test.when_settled = partial(self._settled.setdefault, test)

    def _undecided(self, test: RegisteredTest, out: EffectList) -> None:
        """Settle a test whose handlers have not decided in time."""
        self._wait_no_longer(test)
        self._settle([test], out, worker_lost=False)

    def _wait_no_longer(self, test: RegisteredTest) -> None:
        self.state.deadlines.cancel(self.deciding.pop(test))
        self._settled.pop(test, None)
        test.when_settled = None

    def _settle(self, tests: list[RegisteredTest], out: EffectList, *, worker_lost: bool) -> None:
        """Settle what waits for tests, ``at_once`` of it now."""
        self.waiting.extend(UnsettledTest(test, worker_lost) for test in tests)
        self.settle_more(out)

    def settle_more(self, out: EffectList) -> None:
        """Settle the next ``at_once`` requests, claims and WebSockets, and acknowledge the ends."""
        self._settle_some_more(out)
        deadlines = self.state.deadlines
        deadlines.cancel(self._next)
        if self.waiting:
            self._next = deadlines.add(out.now.seconds, self.settle_more, out)

    def _settle_some_more(self, out: EffectList) -> None:
        left = self.at_once
        while self.waiting:
            ended = self.waiting[0]
            left -= self._settle_some(ended, left, out)
            if not ended.is_clear:
                return
            self.waiting.popleft()
            if ended.unsettled:
                happened = "lost its worker" if ended.worker_lost else "ended"
                who = f"the test {ended.test}"
                out.note("info", error_messages.left_unsettled(who, happened, ended.unsettled))
            if not ended.worker_lost:
                out.send(ended.test.worker.id, TestUnregistered(ended.test.id))

    def _settle_some(self, ended: UnsettledTest, most: int, out: EffectList) -> int:
        """Settle what waits for a test.

        :returns: the number of requests, claims and WebSockets, at most ``most``.
        """
        test = ended.test
        why = error_messages.owner_lost if ended.worker_lost else error_messages.owner_ended
        owned = list(islice(test.requests.values(), most))
        for pending in owned:
            if pending.chain is not None and not ended.worker_lost:
                self._fail_test(test, pending, pending.chain.route, out)
            self.decisions.fail(pending, "disconnected", why(pending.subject, test), out)
        done = len(owned)
        ended.unsettled += done
        asked = list(islice(test.claims.values(), most - done))
        for claim in asked:
            if self.state.claims.give_up_on(test, claim):
                self.routing[claim.kind].claimed(claim, out)
        done += len(asked)
        if not ended.worker_lost:
            return done + self.sockets.close_those_of(test, most - done, out)
        sockets = self.sockets.fail_those_of(test, most - done, out)
        ended.unsettled += sockets
        return done + sockets

    def _fail_test(
        self,
        test: RegisteredTest,
        pending: PendingRequest,
        route: RegisteredRoute | None,
        out: EffectList,
    ) -> None:
        """Fail a test that ends before a decision of it was made or sent, unless it ignores errors.

        :param route: the route whose handler runs; ``None`` before the first one.
        """
        if route is None or not route.ignores_errors:
            place = None if route is None else route.place
            is_decided = self.state.planned.has(pending) and not pending.fetches
            why = error_messages.unsent if is_decided else error_messages.still_running
            text = why(pending.subject, test, place)
            out.send(test.worker.id, ProxyError("disconnected", text, test.id))


def _runs_handlers(test: RegisteredTest) -> bool:
    """Return whether the worker runs a handler for a request of the test."""
    return any(
        pending.chain is not None and pending.chain.route is not None
        for pending in test.requests.values()
    )
