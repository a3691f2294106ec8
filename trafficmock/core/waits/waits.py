"""Ends the waits of tests: by what met them, or with what came instead when they are overdue."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import partial

from attrs import define, field
from msgspec import UNSET

from trafficmock.core.deadlines import Deadline
from trafficmock.core.effects import EffectList, Overdue, Send
from trafficmock.core.local.local_decisions import LocalDecisions
from trafficmock.core.ownership.compared_content import content_of, values_for
from trafficmock.core.ownership.differences import LONGEST_TEXT
from trafficmock.core.ownership.given_globs import read_matcher
from trafficmock.core.ownership.registry import compile_route
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.peers import Agent, Worker, connected
from trafficmock.core.state.registered import RegisteredTest
from trafficmock.core.waits.sent_requests import MOST_SENT, SentRequest, SentRequests
from trafficmock.matching import GlobError, MatchBudget, MatchResult, RouteMatcher
from trafficmock.matching.request_content import RequestContent
from trafficmock.matching.url_parts import shown_url
from trafficmock.texts.wording import Wording
from trafficmock.wire.inbound import Message, RequestResponse
from trafficmock.wire.outbound import HandlerRun, ProxyError, RequestObserved, RequestReplied
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher
from trafficmock.wire.payloads.unmet_routes import UnmetMatcher
from trafficmock.wire.waits.wait_messages import (
    WaitCancel,
    WaitJudge,
    WaitJudged,
    WaitKind,
    WaitMet,
    WaitOverdue,
    WaitRegister,
)

MOST_OPEN = 1000
"""The most open waits of one worker: each request that it was sent is compared with all."""

MOST_SEEN = 8
"""The most requests that are named for a wait of which the history knows nothing."""

_TOO_MANY = (
    f"This wait was not begun, because {MOST_OPEN} others of this connection are open. Await some "
    "of them before you begin more."
)

_SENT = frozenset({RequestObserved, HandlerRun, RequestReplied, RequestResponse})
"""The messages that send a worker a request or its response."""


@define(eq=False)
class Wait:
    """An open wait.

    :param after: the number of the latest request that the test had been sent before.
    :param since: when it began, in microseconds of the coordinator's clock.
    :param began: the same in epoch milliseconds.
    :param asked: the request that the worker is asked about.
    :param candidates: the requests that it has to be asked about then.
    :param end: the end of its time; ``None`` for never.
    """

    id: str
    test: RegisteredTest
    kind: WaitKind
    matcher: SerializedMatcher
    compiled: RouteMatcher = field(repr=False)
    after: int
    since: int
    began: int
    asked: str | None = None
    candidates: deque[SentRequest] = field(factory=lambda: deque(maxlen=MOST_SENT))
    end: Deadline | None = None

    def is_for(self, sent: SentRequest) -> bool:
        """Return whether a request came after the beginning, and the test was sent it.

        A request for which a handler of the test runs later than the beginning counts too: its
        application still waits, so the test caused it just before the wait.
        """
        if sent.number <= self.after or sent.test_id not in (None, self.test.id):
            return False
        is_older = sent.seen_at is not None and sent.seen_at < self.since
        return not is_older or sent.handled_by == self.test.id


@define(eq=False)
class WorkerWaits:
    """The open waits of one worker, and the requests that can meet them."""

    worker: Worker
    open: dict[str, Wait] = field(factory=dict)
    sent: SentRequests = field(factory=SentRequests)


@define
class Waits:
    """Registers waits, and ends them.

    A wait is met by what its worker is sent: what the coordinator sends decides, in its order.
    """

    state: SharedState
    local: LocalDecisions
    workers: dict[str, WorkerWaits] = field(factory=dict)
    _over: list[tuple[WorkerWaits, Wait]] = field(init=False, factory=list)
    """The waits whose time has ended in this turn."""

    # Workers and tests

    def joined(self, worker: Worker) -> None:
        """Handle a new worker; one without features is the npm package's, and has no waits."""
        if worker.features:
            self.workers[worker.id] = WorkerWaits(worker)

    def left(self, worker: Worker) -> None:
        """Forget a worker that has disconnected."""
        waits = self.workers.pop(worker.id, None)
        if waits is not None:
            for wait in list(waits.open.values()):
                self._close(waits, wait)

    def end_test(self, test: RegisteredTest) -> None:
        """Forget the waits of a test; its worker knows that they end with it."""
        waits = self.workers.get(test.worker.id)
        if waits is None:
            return
        for wait in [each for each in waits.open.values() if each.test is test]:
            self._close(waits, wait)
        if not test.worker.tests:
            waits.sent.clear()

    # Messages of workers

    def register(self, worker: Worker, message: WaitRegister, out: EffectList) -> None:
        """Begin a wait, which may be met by a request that came since its beginning."""
        waits, test = self.workers.get(worker.id), worker.tests.get(message.test_id)
        if waits is None or test is None or message.wait_id in waits.open:
            out.note("warn", f"{worker.client_id} registers a wait that is not for it to begin")
            return
        if len(waits.open) >= MOST_OPEN:
            out.send(worker.id, ProxyError("too_many_queries", _TOO_MANY, test.id))
            out.send(worker.id, WaitOverdue(message.wait_id))
            return
        try:
            matcher = read_matcher(worker, message.matcher)
        except GlobError as error:
            out.send(worker.id, WaitOverdue(message.wait_id, error=str(error)))
            return
        now = out.now
        arrived = round(now.seconds * 1_000_000)
        since = arrived if message.since is UNSET else min(message.since, arrived)
        wait = Wait(
            message.wait_id,
            test,
            message.kind,
            matcher,
            compile_route(matcher),
            waits.sent.number_of(message.after or None),
            since,
            now.epoch_ms - (arrived - since) // 1000,
        )
        waits.open[wait.id] = wait
        _note_url(test, matcher)
        if message.timeout_ms is not UNSET:
            due = now.seconds + message.timeout_ms / 1000
            over = partial(self._is_over, waits, wait)
            wait.end = self.state.deadlines.add(due, over, out)
        for sent in waits.sent.after(wait.after):
            if wait.id in waits.open:
                self._offer(waits, wait.kind, sent, out, [wait])

    def judged(self, worker: Worker, message: WaitJudged, out: EffectList) -> None:
        """Handle the worker's answer whether a request or response meets a wait."""
        waits = self.workers.get(worker.id)
        wait = None if waits is None else waits.open.get(message.wait_id)
        if waits is None or wait is None or wait.asked != message.request_id:
            return
        wait.asked = None
        if message.met:
            self._meet(waits, wait, message.request_id, out)
        else:
            self._ask(waits, wait, out)

    def cancel(self, worker: Worker, message: WaitCancel, _: EffectList) -> None:
        """Forget a wait that the test gave up."""
        waits = self.workers.get(worker.id)
        wait = None if waits is None else waits.open.get(message.wait_id)
        if waits is not None and wait is not None:
            self._close(waits, wait)

    def _meet(self, waits: WorkerWaits, wait: Wait, request_id: str, out: EffectList) -> None:
        self._close(waits, wait)
        out.send(waits.worker.id, WaitMet(wait.id, request_id))

    def _close(self, waits: WorkerWaits, wait: Wait) -> None:
        del waits.open[wait.id]
        self.state.deadlines.cancel(wait.end)

    # What comes

    def compare(self, out: EffectList) -> None:
        """Compare what workers are sent with their waits, and add the messages that end them."""
        if not self.workers:
            return
        place = 0
        for effect in list(out):
            place += 1
            if type(effect) is not Send or type(effect.message) not in _SENT:
                continue
            ends = EffectList(out.now)
            for connection_id in effect.to:
                waits = self.workers.get(connection_id)
                if waits is not None and waits.worker.tests:
                    self._sent(waits, effect.message, ends)
            out[place:place] = ends
            place += len(ends)

    def _sent(self, waits: WorkerWaits, message: Message, out: EffectList) -> None:
        if isinstance(message, RequestResponse):
            self._responded(waits, message, out)
        elif isinstance(message, RequestObserved | HandlerRun | RequestReplied):
            sent = waits.sent.get(message.request_id)
            if sent is None:
                sent = waits.sent.add(message, out.now.epoch_ms)
                self._offer(waits, "request", sent, out)
            if isinstance(message, HandlerRun) and sent.handled_by is None:
                older = [each for each in waits.open.values() if not each.is_for(sent)]
                sent.handled_by = message.test_id
                self._offer(waits, "request", sent, out, older)

    def _responded(self, waits: WorkerWaits, message: RequestResponse, out: EffectList) -> None:
        sent = waits.sent.get(message.request_id)
        response = message.response if message.ok else UNSET
        if sent is None or response is UNSET:
            return
        waits.sent.responded(sent, response.url or sent.url)
        self._offer(waits, "response", sent, out)
        if waits.open and response.is_redirect():
            hop = waits.sent.hop_of(sent, response.headers["location"])
            if hop is not None:
                # A predicate may ask for the request before it, which the worker knows only now.
                self._offer(waits, "request", hop, out)

    def _offer(
        self,
        waits: WorkerWaits,
        kind: WaitKind,
        sent: SentRequest,
        out: EffectList,
        among: Iterable[Wait] | None = None,
    ) -> None:
        """Compare a request or its response with the open waits, or with some of them."""
        url = sent.url if kind == "request" else sent.response_url
        if url is None or not waits.open:
            return
        budget = MatchBudget(self.state.registry.pattern_cache)
        content: RequestContent | None = None
        for wait in list(waits.open.values() if among is None else among):
            if wait.kind != kind or not wait.is_for(sent):
                continue
            result = wait.compiled.judge(url, sent.method, sent.client_id, budget)
            beside = wait.compiled.beside
            if beside is not None and result is not MatchResult.NO:
                content = content or content_of(sent.request, self.state.registry)
                result = result if beside.hold(content) else MatchResult.NO
            if result is MatchResult.YES:
                self._meet(waits, wait, sent.id, out)
            elif result is MatchResult.UNDECIDABLE:
                wait.candidates.append(sent)
                self._ask(waits, wait, out)

    def _ask(self, waits: WorkerWaits, wait: Wait, out: EffectList) -> None:
        """Ask the worker about the next candidate, unless it has not answered about another."""
        if wait.asked is None and wait.candidates:
            sent = wait.candidates.popleft()
            wait.asked = sent.id
            values = values_for(
                [wait.matcher], partial(content_of, sent.request, self.state.registry)
            )
            out.send(waits.worker.id, WaitJudge(wait.id, wait.test.id, sent.id, values))

    # The end of the time

    def _is_over(self, waits: WorkerWaits, wait: Wait, _: EffectList) -> None:
        self._over.append((waits, wait))

    def end_overdue(self, out: EffectList) -> None:
        """End the waits whose time is over; their workers get what came instead.

        What else was done in this turn, and may have met them, was compared before.
        """
        over, self._over = self._over, []
        for waits, wait in over:
            if waits.open.get(wait.id) is wait:
                self._close(waits, wait)
                self._end_overdue(waits, wait, out)

    def _end_overdue(self, waits: WorkerWaits, wait: Wait, out: EffectList) -> None:
        worker = waits.worker
        agents = [connected(each) for each in self.state.clients() if isinstance(each, Agent)]
        shared = [test.id for test in worker.tests.values() if test.shared]
        own = [] if wait.test.context is None else [wait.test.id, *shared]
        overdue = Overdue(
            worker.id,
            wait.id,
            wait.kind,
            UnmetMatcher(wait.matcher, wait.began),
            wait.test.registered_at,
            agents,
            frozenset(own),
            _seen(waits.sent, wait.test),
        )
        self.local.when_reported(worker, out, lambda out: out.append(overdue))


def _note_url(test: RegisteredTest, matcher: SerializedMatcher) -> None:
    """Note that a test knows of a URL.

    A wait for any request names none. Nor does one with only a function: the worker calls it, and
    its answer comes after the request is judged.
    """
    has_url = matcher.url_glob is not UNSET or matcher.url_regex is not UNSET
    if has_url and matcher not in test.waited_for:
        test.waited_for.append(matcher)


def _seen(sent: SentRequests, test: RegisteredTest) -> list[str]:
    """Return lines about what a test was sent, the newest first."""
    own = [
        each
        for each in sent.after(0)
        if each.at >= test.registered_at and each.test_id in (None, test.id)
    ]
    lines: list[str] = [
        Wording(
            f"  {each.method} ", shown_url(each.url, LONGEST_TEXT), f" (client {each.client_id})"
        )
        for each in own[: -MOST_SEEN - 1 : -1]
    ]
    more = len(own) - MOST_SEEN
    return [*lines, f"  and {more} more"] if more > 0 else lines
