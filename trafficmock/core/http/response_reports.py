"""Handles the reports of agents about requests that were sent upstream."""

from __future__ import annotations

from itertools import islice

from attrs import define
from msgspec import UNSET, structs

from trafficmock.core.answers.body_way import FAULT_UNREACHED, unreached
from trafficmock.core.effects import EffectList
from trafficmock.core.http.deferred_bodies import clipped, for_workers, send_deferred_report
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import AwaitedReport
from trafficmock.core.state.peers import Agent
from trafficmock.records import AnswerNoted, ResponseReported
from trafficmock.wire.features import STREAM
from trafficmock.wire.inbound import RequestCancel, RequestResponse
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse

_NO_REPORT = SerializedError("Error", "The agent reported neither a response nor an error.")


@define
class ResponseReports:
    """Records the reports of agents, and sends them to observers."""

    state: SharedState

    def response(self, agent: Agent, message: RequestResponse, out: EffectList) -> None:
        """Handle ``request:response``: record the response or error, and send it to observers.

        An error belongs to the latest hop of a chain of redirects, even if the agent names an
        earlier hop.
        """
        report = agent.awaited.get(message.request_id)
        if report is None and not message.ok:
            report = agent.awaited.get(agent.tails.get(message.request_id, ""))
        if report is None:
            return
        response = message.response if message.ok else UNSET
        streams = STREAM in agent.features
        if response is UNSET:
            partial = self._kept(message.response) if streams and message.response else None
            self.failed(agent, report, message.error or _NO_REPORT, out, partial=partial)
            return
        if streams and message.body_pending is True:
            self._head(report, response, out)
            return
        send_deferred_report(report, out)
        if streams:
            response = self._kept(response)
        if report.recorded:
            self._record(
                report, response, message.error if streams and message.error else None, out
            )
        if report.observers:
            if response.truncated is True:
                message = structs.replace(message, response=for_workers(response), error=UNSET)
            out.send_all(report.observers, message)
        if response.is_redirect():
            report.redirected = True
        else:
            self.state.awaited.free(agent, report)

    @staticmethod
    def _record(
        report: AwaitedReport,
        response: SerializedResponse,
        given_up: SerializedError | None,
        out: EffectList,
    ) -> None:
        out.record(ResponseReported(report.request_id, response, given_up))
        if report.fault is not None and given_up is None:
            text = unreached(report.fault)
            out.record(AnswerNoted(report.request_id, FAULT_UNREACHED, text))

    def _head(self, report: AwaitedReport, response: SerializedResponse, out: EffectList) -> None:
        """Record the head of a response; observers get only the complete response."""
        if report.recorded:
            report.begun = True
            head = structs.replace(response, body_base64=body.NULL)
            out.record(ResponseReported(report.request_id, head, None, body_pending=True))

    def _kept(self, response: SerializedResponse) -> SerializedResponse:
        return clipped(response, self.state.settings.history_body_bytes)

    def failed(
        self,
        agent: Agent,
        report: AwaitedReport,
        error: SerializedError,
        out: EffectList,
        *,
        partial: SerializedResponse | None = None,
    ) -> None:
        """Record an error of the upstream, and send it to observers.

        :param partial: the part of the response that came before the error, for the history.
        """
        self.state.awaited.free(agent, report)
        send_deferred_report(report, out)
        if report.recorded:
            out.record(ResponseReported(report.request_id, partial, error))
        if report.observers:
            reported = RequestResponse(request_id=report.request_id, ok=False, error=error)
            out.send_all(report.observers, reported)

    def cancel(self, agent: Agent, message: RequestCancel, out: EffectList) -> None:
        """Handle that the application cancelled a request that was sent upstream."""
        report = agent.awaited.get(message.request_id)
        if report is not None:
            reason = message.reason or "The application gave the request up."
            self.failed(agent, report, SerializedError("AbortError", reason, code="aborted"), out)

    def agent_lost(self, agent: Agent, error: SerializedError, most: int, out: EffectList) -> int:
        """End by an error the awaited reports of a disconnected agent.

        :returns: the number of ended reports, at most ``most``.
        """
        lost = list(islice(agent.awaited.values(), most))
        for report in lost:
            if report.redirected:
                self.state.awaited.free(agent, report)
            else:
                self.failed(agent, report, error, out)
        return len(lost)
