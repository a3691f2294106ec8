"""Messages that are not valid: whoever waits for what they meant is answered all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define
from msgspec import UNSET

from trafficmock.core.effects import Effects, Note, Send
from trafficmock.core.peers import Agent, Worker
from trafficmock.wire import outbound
from trafficmock.wire.serialized_response import SerializedError

if TYPE_CHECKING:
    from trafficmock.core.decisions import Decisions
    from trafficmock.core.pending_bodies import Bodies
    from trafficmock.core.response_reports import Reports
    from trafficmock.core.websocket_routing import Sockets
    from trafficmock.wire.codec import InvalidMessageError


@define
class Complaints:
    """Answers bad input so that it harms nobody but its sender."""

    decisions: Decisions
    sockets: Sockets
    reports: Reports
    bodies: Bodies

    # Messages without a valid shape

    def invalid(self, client: Agent | Worker, error: InvalidMessageError, out: Effects) -> None:
        """Tell the sender what was wrong, and settle what the message was about."""
        text = str(error)
        out.append(Note("warn", f"{client.client_id} sent an invalid message: {text}"))
        if isinstance(client, Agent):
            self._settle_for_agent(client, error, out)
            out.append(Send((client.id,), outbound.ProxyError(error.code, text)))
            return
        test_id = self._test_concerned(client, error)
        if error.type == "handler:result":
            pending = self.decisions.pending.get(error.ids.get("requestId", ""))
            if pending is not None and pending.test and pending.test.worker is client:
                self.decisions.fail(pending, "handler_failed", text, out)
        out.append(Send((client.id,), outbound.ProxyError(error.code, text, test_id or UNSET)))

    def _test_concerned(self, worker: Worker, error: InvalidMessageError) -> str | None:
        test_id = error.ids.get("testId", "")
        pending = self.decisions.pending.get(error.ids.get("requestId", ""))
        socket = self.sockets.sockets.get(error.ids.get("socketId", ""))
        for subject in (pending, socket):
            if subject is not None and subject.test and subject.test.worker is worker:
                return subject.test.id
        return test_id or None

    def _settle_for_agent(self, agent: Agent, error: InvalidMessageError, out: Effects) -> None:
        request_id, text = error.ids.get("requestId", ""), str(error)
        if error.type == "request:start" and request_id and request_id not in agent.pending:
            refusal = outbound.DecisionError(request_id, "internal", text)
            out.append(Send((agent.id,), refusal))
        elif error.type == "request:body":
            self.bodies.unreadable(agent, request_id, text, out)
        elif error.type == "request:response" and request_id in agent.awaited:
            failure = SerializedError("Error", text)
            self.reports.failed(agent, agent.awaited[request_id], failure, out)
        elif error.type == "fetch:result":
            fetch_id = error.ids.get("fetchId", "")
            worker_id = agent.fetches.pop((request_id, fetch_id), None)
            if worker_id is not None:
                failure = SerializedError("Error", text)
                answer = outbound.FetchDone(request_id, fetch_id, ok=False, error=failure)
                out.append(Send((worker_id,), answer))
        elif error.type == "ws:connection" and error.ids.get("socketId"):
            socket_id = error.ids["socketId"]
            if socket_id not in agent.sockets:
                refusal_ws = outbound.SocketError(socket_id, "internal", text)
                out.append(Send((agent.id,), refusal_ws))
