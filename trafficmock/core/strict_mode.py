"""Handles the messages of strict mode: of strict tests, of strict runs, and about refusals."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, evolve, field
from msgspec import UNSET, UnsetType

from trafficmock import records
from trafficmock.core import error_messages
from trafficmock.core.effects import EffectList
from trafficmock.core.local.local_decisions import LocalDecisions
from trafficmock.core.ownership.lost_runs import LostRuns
from trafficmock.core.ownership.refusals import Refusals
from trafficmock.core.ownership.registry import compile_route
from trafficmock.core.ownership.strictness import Refusal
from trafficmock.core.ownership.unowned_refusals import UnownedRefusals
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import PendingRequest
from trafficmock.core.state.peers import Agent, Worker
from trafficmock.matching import GlobError
from trafficmock.matching.allow_list import MOST_PATTERNS, AllowList, read_allow_list
from trafficmock.matching.compiled_matcher import RouteMatcher
from trafficmock.matching.host_pattern import PatternError, check_characters
from trafficmock.matching.patterns.given_glob import GivenGlob
from trafficmock.wire import inbound, outbound
from trafficmock.wire.features import STRICT
from trafficmock.wire.local_reports import RequestIgnored
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_matcher import MOST_CONDITIONS, SerializedMatcher
from trafficmock.wire.payloads.serialized_request import SerializedRequest


@define
class StrictMode:
    """Begins and ends strict mode of tests and runs, and refuses tunnels.

    After an acknowledgement the change applies.
    """

    state: SharedState
    local: LocalDecisions
    unowned: UnownedRefusals = field(init=False)
    refusals: Refusals = field(init=False)
    lost_runs: LostRuns = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.unowned = UnownedRefusals(self.state.clients)
        self.refusals = Refusals(self.state.strictness, self.unowned)
        self.lost_runs = LostRuns(
            self.state.strictness, self.state.deadlines, self.state.settings.strict_quiet
        )

    def change_test(self, worker: Worker, message: inbound.TestStrict, out: EffectList) -> None:
        """Handle ``test:strict``: begin or end the strict mode of a test."""
        if not _knows(worker, out):
            return
        problem = self._changed(worker, message)
        if problem is None:
            stricted = outbound.TestStricted(message.test_id)
            self.local.when_applied(worker, (), out, lambda out: out.send(worker.id, stricted))
        else:
            refusal = outbound.ProxyError("invalid_message", problem, message.test_id)
            out.send(worker.id, refusal)

    def _changed(self, worker: Worker, message: inbound.TestStrict) -> str | None:
        test = worker.tests.get(message.test_id)
        if test is None:
            return f"The test {message.test_id} is not registered by this worker."
        if message.allow is UNSET:
            self.state.strictness.tests.pop(test.id, None)
            return None
        try:
            self.state.strictness.tests[test.id] = read_allowed(message.allow)
        except PatternError as error:
            return f"The allow list of strict mode cannot be read: {error}."
        return None

    def change_run(self, worker: Worker, message: inbound.RunStrict, out: EffectList) -> None:
        """Handle ``run:strict``: begin a strict run, which lasts while the worker is connected."""
        if not _knows(worker, out):
            return
        problem: str | UnsetType = UNSET
        try:
            self.state.strictness.runs[worker.id] = read_allowed(message.allow)
        except PatternError as error:
            problem = f"The allow list of strict mode cannot be read: {error}."
        else:
            self._joins(worker, message.age_ms, out)
        stricted = outbound.RunStricted(message.query_id, problem)
        self.local.when_applied(worker, (), out, lambda out: out.send(worker.id, stricted))

    def answer(self, worker: Worker, message: inbound.UnmatchedQuery, out: EffectList) -> None:
        """Handle ``run:unmatched:query``: send the refused requests that no test owns."""
        if not _knows(worker, out):
            return
        since = self._joins(worker, message.age_ms, out)
        rows = self.unowned.untold() if message.tell is True else self.unowned.rows.values()
        rows = [each for each in rows if each.last_at >= since]
        of_tests = [each for each in rows if each.framework is UNSET]
        of_frameworks = [each for each in rows if each.framework is not UNSET]
        problem: str | UnsetType = UNSET
        if self.state.strictness.run_saw_no_application():
            problem = error_messages.no_application("this strict run")
        dropped = self.unowned.dropped
        answer = outbound.Unmatched(
            message.query_id, of_tests, dropped, problem, of_frameworks or UNSET
        )
        out.send(worker.id, answer)

    def _joins(self, worker: Worker, age: int | UnsetType, out: EffectList) -> int:
        """Note that a worker of a run asks for the list.

        :param age: how long ago its run has begun, in ms.
        :returns: the time from which refusals are of its run, in epoch ms.
        """
        since = 0 if age is UNSET else out.now.epoch_ms - age
        self.unowned.joins(worker.id, since)
        return since

    def would_refuse_tunnel(self, agent: Agent, request: SerializedRequest) -> bool:
        """Return whether a tunnel would be refused that the forward proxy does not decrypt.

        :param request: the CONNECT request, with ``https://host:port/`` as its URL.
        """
        return self._refusal(self._tunnel("", agent, request)) is not None

    def refuse_tunnel(
        self, agent: Agent, tunnel_id: str, request: SerializedRequest, out: EffectList
    ) -> str | None:
        """Refuse and record a tunnel, if strict mode does not allow it.

        :param request: as in :meth:`would_refuse_tunnel`.
        :returns: the error text for the application; ``None`` for an allowed tunnel.
        """
        tunnel = self._tunnel(tunnel_id, agent, request)
        self.state.strictness.judged_at = out.now.seconds
        refusal = self._refusal(tunnel)
        if refusal is None:
            return None
        text, notice = self.refusals.message("http", tunnel, refusal, out.now)
        out.record(records.RequestSeen(tunnel_id, agent.client_id, request))
        out.record(records.RequestFailed(tunnel_id, None, outbound.UNMATCHED, text, None))
        if notice is not None:
            out.send(*notice)
        return text

    def ignored(self, agent: Agent, message: RequestIgnored, out: EffectList) -> None:
        """Handle ``request:ignored``: a request left that strict mode would have refused.

        Its test fails, or its run; it cannot be refused any more.
        """
        context_test = None
        if message.context is not UNSET:
            context_test = self.state.contexts.seen(message.context, out.now.seconds)
        request = SerializedRequest(message.url, message.method, {}, body.NULL)
        framework = self.state.registry.framework_call(message.url)
        left = PendingRequest(
            id="",
            client_id=agent.client_id,
            request=request,
            agent=agent,
            announced_at=out.now.seconds,
            observers=(),
            context_test=context_test if framework is None else None,
            framework=framework,
        )
        refusal = self.state.strictness.refusal(left, message.url)
        if refusal is None:
            return
        _, notice = self.refusals.message("http", left, refusal, out.now, has_left=True)
        if notice is not None:
            out.send(*notice)

    def _refusal(self, tunnel: PendingRequest) -> Refusal | None:
        return self.state.strictness.refusal(tunnel)

    def _tunnel(self, tunnel_id: str, agent: Agent, request: SerializedRequest) -> PendingRequest:
        """Make a request without a context of a tunnel, for :class:`.Strictness`."""
        return PendingRequest(
            id=tunnel_id,
            client_id=agent.client_id,
            request=request,
            agent=agent,
            announced_at=0.0,
            observers=(),
            framework=self.state.registry.framework_call(request.url),
        )

    # The end of workers

    def worker_left(self, worker: Worker, out: EffectList, *, clean: bool) -> None:
        """Let the strict run of a disconnected worker end, some time after its connection.

        :param clean: whether the worker closed its connection by a close frame.
        """
        if self.unowned.left(worker, self.state.agents()):
            connected = [each for each in self.state.clients() if isinstance(each, Agent)]
            self.state.strictness.applications.next_run(connected)
        if worker.id not in self.state.strictness.runs:
            return
        if clean:
            self.lost_runs.end(worker.id, out)
        else:
            self.lost_runs.lost(worker.id, out)
            out.note("info", error_messages.STRICT_RUN_LOST)


def _knows(worker: Worker, out: EffectList) -> bool:
    if STRICT in worker.features:
        return True
    out.note(
        "warn", f"{worker.client_id} sent a message of strict mode without the feature `strict`"
    )
    return False


def read_allowed(allow: Iterable[str | SerializedMatcher]) -> AllowList:
    """Read an allow list.

    :raises PatternError: for an invalid pattern, for a matcher that only the worker can compare,
        for more than :data:`.MOST_PATTERNS` of both, and for too many characters or conditions.
    """
    given = list(allow)
    wired = [each for each in given if not isinstance(each, str)]
    patterns = read_allow_list([each for each in given if isinstance(each, str)])
    texts = tuple(map(error_messages.allowed_matcher, wired))
    check_characters(each.url_glob or "" for each in wired)
    if sum(len(each.conditions or ()) for each in wired) > MOST_CONDITIONS:
        raise PatternError(
            texts[-1], f"is too much: a list has at most {MOST_CONDITIONS} conditions"
        )
    if len(given) > MOST_PATTERNS:
        raise PatternError(
            (*patterns.texts, *texts)[MOST_PATTERNS],
            f"is one too many: at most {MOST_PATTERNS} are read",
        )
    matchers = tuple(_compiled(*each) for each in zip(wired, texts, strict=True))
    return evolve(patterns, texts=(*patterns.texts, *texts), matchers=matchers)


def _compiled(wired: SerializedMatcher, text: str) -> RouteMatcher:
    try:
        GivenGlob(wired.url_glob or "").compile()
    except GlobError as error:
        raise PatternError(text, f"is no URL glob: {error}") from None
    compiled = compile_route(wired)
    if compiled.condition.open_question:
        raise PatternError(
            text, "has a URL that the proxy cannot compare: write https://HOST/… or **/…"
        )
    return compiled
