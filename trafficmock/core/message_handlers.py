"""The tables of handlers: for each message of agents and of workers, the method that handles it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import structs

from trafficmock.core import error_messages
from trafficmock.core.effects import (
    AnswerQuery,
    AnswerReport,
    Diagnose,
    EffectList,
    MakeReport,
    Redact,
    WriteRecording,
)
from trafficmock.core.ownership import given_globs
from trafficmock.core.state.peers import Agent, Client, Liveness, Worker, connected
from trafficmock.wire import inbound, local_reports
from trafficmock.wire.client_message import GlobQuery, RedactQuery
from trafficmock.wire.inbound import Message, Ping, Pong
from trafficmock.wire.payloads.serialized_har import SerializedRecording
from trafficmock.wire.waits import wait_messages

if TYPE_CHECKING:
    from trafficmock.core.coordinator import Coordinator

Handler = Callable[[Any, Any, EffectList], None]


def handlers_by_role(core: Coordinator) -> dict[type[Client], dict[type[Message], Handler]]:
    """Return the handlers for each kind of client; other messages are not for its role."""
    all_: dict[type[Message], Handler] = {
        inbound.Hello: core.hello_again,
        Ping: _answer_ping,
        Pong: _nothing_more,
    }
    return {
        Agent: all_ | _handlers_of_agents(core),
        Worker: all_ | _handlers_of_workers(core),
        Liveness: all_,
    }


def _handlers_of_agents(core: Coordinator) -> dict[type[Message], Handler]:
    """Return the handlers of the messages of agents."""

    def cancel(agent: Agent, message: inbound.RequestCancel, out: EffectList) -> None:
        core.decisions.cancel(agent, message, out)
        core.reports.cancel(agent, message, out)
        core.streams.closed(agent, message, out)

    def runs_tests(agent: Agent, message: local_reports.RunsTests, _: EffectList) -> None:
        agent.runs_tests = message.running

    def context_seen(_: Agent, message: local_reports.ContextSeen, out: EffectList) -> None:
        core.state.contexts.seen(message.context, out.now.seconds)

    requests, sockets, relay = core.requests, core.sockets, core.relay
    return {
        inbound.RequestStart: requests.start,
        inbound.RequestBody: core.bodies.arrived,
        inbound.RequestCancel: cancel,
        inbound.FetchResult: core.handlers.fetched,
        inbound.RequestResponse: core.reports.response,
        inbound.RequestObserve: core.hops.hop,
        local_reports.RequestPassed: core.passed.reported,
        local_reports.Batch: core.passed.batch,
        local_reports.FilterAck: core.local.acknowledged,
        local_reports.Synced: core.passed.synced,
        local_reports.ContextSeen: context_seen,
        local_reports.RequestIgnored: core.strict_mode.ignored,
        local_reports.RunsTests: runs_tests,
        local_reports.LibraryUnhooked: core.unhooked_libraries.found,
        inbound.AgentError: _log_agent_error,
        inbound.SocketOpen: sockets.open,
        inbound.MessageFromPage: relay.from_agent,
        inbound.MessageFromServer: relay.from_agent,
        inbound.ClosePage: sockets.close_by_agent,
        inbound.CloseServer: sockets.close_by_agent,
        inbound.StreamAck: core.streams.acknowledged,
        inbound.StreamClosed: core.streams.closed,
    }


def _handlers_of_workers(core: Coordinator) -> dict[type[Message], Handler]:
    """Return the handlers of the messages of workers."""

    def claim_result(
        worker: Worker,
        message: inbound.RequestClaimResult | inbound.SocketClaimResult,
        out: EffectList,
    ) -> None:
        test = worker.tests.get(message.test_id)
        if test is None:
            return
        if isinstance(message, inbound.RequestClaimResult):
            claim = core.state.claims.answer("http", message.request_id, test, message.matches)
        else:
            claim = core.state.claims.answer("websocket", message.socket_id, test, message.matches)
        if claim is not None:
            core.routing[claim.kind].claimed(claim, out)
        elif isinstance(message, inbound.RequestClaimResult):
            core.requests.judged(worker, message, out)

    setup, relay, strict = core.setup, core.relay, core.strict_mode
    return {
        inbound.TestRegister: setup.add_test,
        inbound.TestSubscribe: setup.subscribe,
        inbound.TestUnregister: core.ended_tests.unregister,
        inbound.TestStrict: strict.change_test,
        inbound.RunStrict: strict.change_run,
        inbound.UnmatchedQuery: strict.answer,
        inbound.RouteRegister: setup.add_route,
        inbound.RouteUnregister: setup.remove_route,
        inbound.RequestClaimResult: claim_result,
        inbound.SocketClaimResult: claim_result,
        inbound.HandlerResult: core.handlers.result,
        **_handlers_of_queries(core),
        inbound.SendToPage: relay.from_worker,
        inbound.SendToServer: relay.from_worker,
        inbound.SocketConnect: relay.connect,
        inbound.SocketEnsureOpened: relay.ensure_opened,
        inbound.ClosePage: relay.close_by_worker,
        inbound.CloseServer: relay.close_by_worker,
        inbound.StreamData: core.streams.written,
        inbound.StreamEnd: core.streams.written,
        inbound.StreamAbort: core.streams.written,
        wait_messages.WaitRegister: core.waits.register,
        wait_messages.WaitJudged: core.waits.judged,
        wait_messages.WaitCancel: core.waits.cancel,
    }


def _handlers_of_queries(core: Coordinator) -> dict[type[Message], Handler]:
    """Return the handlers of the messages by which workers ask what happened."""

    def diagnose(worker: Worker, message: inbound.DiagnosisQuery, out: EffectList) -> None:
        agents = [connected(client) for client in core.state.clients() if isinstance(client, Agent)]
        own = [test.id for test in worker.tests.values() if test.shared]
        test = worker.tests.get(message.test_id)
        # Without a context of its own, a test cannot say which requests are those of others.
        has_context = test is not None and test.context is not None
        known = frozenset([message.test_id, *own]) if has_context else frozenset[str]()
        unmet = [
            structs.replace(each, matcher=given_globs.absolute(worker, each.matcher))
            for each in message.unmet
        ]
        effect = Diagnose(worker.id, structs.replace(message, unmet=unmet), agents, known)
        core.local.when_reported(worker, out, lambda out: out.append(effect))

    def answer_query(worker: Worker, message: inbound.HistoryQuery, out: EffectList) -> None:
        # The driver answers: the core does not have the history.
        query = AnswerQuery(worker.id, message)
        core.local.when_reported(worker, out, lambda out: out.append(query))

    def report(worker: Worker, message: inbound.ReportQuery, out: EffectList) -> None:
        query = AnswerReport(worker.id, message)
        core.local.when_reported(worker, out, lambda out: out.append(query))

    def write(worker: Worker, message: inbound.RecordingQuery, out: EffectList) -> None:
        test = worker.tests.get(message.test_id)
        kept = None if test is None else test.recordings.get(message.route_id)
        exchanges = () if kept is None else tuple(kept.exchanges)
        options = SerializedRecording() if kept is None else kept.options
        error = ""
        if kept is not None and kept.is_dropped:
            error = error_messages.no_room_for_recording(core.state.settings.recording_bytes)
        out.append(WriteRecording(worker.id, message, options, exchanges, error))

    def of_report(effect: type[MakeReport | Redact]) -> Handler:
        return lambda worker, message, out: out.append(effect(worker.id, message))

    return {
        inbound.HistoryQuery: answer_query,
        inbound.ReportQuery: report,
        inbound.ReportMake: of_report(MakeReport),
        inbound.RecordingQuery: write,
        RedactQuery: of_report(Redact),
        inbound.DiagnosisQuery: diagnose,
        GlobQuery: given_globs.answer,
    }


def _answer_ping(client: Client, message: Ping, out: EffectList) -> None:
    out.send(client.id, Pong(message.at))


def _nothing_more(client: Client, message: Pong, out: EffectList) -> None:
    """Do nothing: the coordinator has counted the message as a sign of life."""


def _log_agent_error(agent: Agent, message: inbound.AgentError, out: EffectList) -> None:
    out.note("error", f"Agent {agent.client_id}: {message.message[:2000]}")
