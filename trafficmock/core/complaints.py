"""Messages that are not valid, or too big to pass on: whoever waits is answered all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define
from msgspec import UNSET, structs

from trafficmock.core import records, texts
from trafficmock.core.effects import Effects, Note, Send
from trafficmock.core.parties import Agent, Worker
from trafficmock.wire import body, inbound, outbound
from trafficmock.wire.response import Failure

if TYPE_CHECKING:
    from trafficmock.core.reports import Reports
    from trafficmock.core.requests import Requests
    from trafficmock.core.sockets import Sockets
    from trafficmock.wire.codec import InvalidMessageError


@define
class Complaints:
    """Answers bad input so that it harms nobody but its sender."""

    requests: Requests
    sockets: Sockets
    reports: Reports

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
            pending = self.requests.pending.get(error.ids.get("requestId", ""))
            if pending is not None and pending.test and pending.test.worker is client:
                self.requests.fail(pending, "handler_failed", text, out)
        out.append(Send((client.id,), outbound.ProxyError(error.code, text, test_id or UNSET)))

    def _test_concerned(self, worker: Worker, error: InvalidMessageError) -> str | None:
        test_id = error.ids.get("testId", "")
        pending = self.requests.pending.get(error.ids.get("requestId", ""))
        socket = self.sockets.sockets.get(error.ids.get("socketId", ""))
        for subject in (pending, socket):
            if subject is not None and subject.test and subject.test.worker is worker:
                return subject.test.id
        return test_id if test_id in worker.tests else None

    def _settle_for_agent(self, agent: Agent, error: InvalidMessageError, out: Effects) -> None:
        request_id, text = error.ids.get("requestId", ""), str(error)
        if error.type == "request:start" and request_id and request_id not in agent.pending:
            refusal = outbound.DecisionError(request_id, "internal", text)
            out.append(Send((agent.id,), refusal))
        elif error.type == "request:response" and request_id in agent.awaited:
            failure = Failure("Error", text)
            self.reports.failed(agent, agent.awaited[request_id], failure, out)
        elif error.type == "fetch:result":
            fetch_id = error.ids.get("fetchId", "")
            worker_id = agent.fetches.pop((request_id, fetch_id), None)
            if worker_id is not None:
                failure = Failure("Error", text)
                answer = outbound.FetchDone(request_id, fetch_id, ok=False, error=failure)
                out.append(Send((worker_id,), answer))
        elif error.type == "ws:connection" and error.ids.get("socketId"):
            socket_id = error.ids["socketId"]
            if socket_id not in agent.sockets:
                refusal_ws = outbound.SocketError(socket_id, "internal", text)
                out.append(Send((agent.id,), refusal_ws))

    # Messages that no client would take

    def too_big(self, send: Send, size: int, limit: int, out: Effects) -> None:
        """Put something smaller in place of a message over ``limit`` bytes.

        News lose their body; what carries a decision or an answer becomes a failure.
        """
        message = send.message
        match message:
            case outbound.RequestObserved() | outbound.RequestClaim():
                request = structs.replace(message.request, body_base64=body.NULL)
                self._instead(send, structs.replace(message, request=request), out)
            case inbound.RequestResponse(response=response) if response is not UNSET:
                smaller = structs.replace(response, body_base64=body.NULL)
                self._instead(send, structs.replace(message, response=smaller), out)
            case outbound.FetchDone():
                failure = Failure("Error", texts.too_big_to_send("The response", size, limit))
                answer = structs.replace(message, ok=False, response=UNSET, error=failure)
                self._instead(send, answer, out)
            case outbound.RequestMatched():
                pending = self.requests.pending[message.request_id]
                text = texts.too_big_to_send(str(pending), size, limit)
                self.requests.fail_owner(pending, "internal", text, out)
            case outbound.DecisionFetch():
                self._fetch_too_big(message, size, limit, out)
            case outbound.DecisionFulfill() | outbound.DecisionContinue():
                self._decision_too_big(send, message.request_id, size, limit, out)
            case _:
                text = texts.too_big_to_send(type(message).__name__, size, limit)
                out.append(Note("warn", f"Dropped: {text}"))

    @staticmethod
    def _instead(send: Send, message: inbound.Message, out: Effects) -> None:
        out.append(Send(send.to, message))

    def _fetch_too_big(
        self, message: outbound.DecisionFetch, size: int, limit: int, out: Effects
    ) -> None:
        pending = self.requests.pending[message.request_id]
        worker_id = pending.agent.fetches.pop((message.request_id, message.fetch_id))
        pending.fetches.discard(message.fetch_id)
        failure = Failure("Error", texts.too_big_to_send("The fetch", size, limit))
        answer = outbound.FetchDone(message.request_id, message.fetch_id, ok=False, error=failure)
        out.append(Send((worker_id,), answer))

    def _decision_too_big(
        self, send: Send, request_id: str, size: int, limit: int, out: Effects
    ) -> None:
        text = texts.too_big_to_send("The decision", size, limit)
        out.append(records.RequestFailed(request_id, None, "internal", text, None))
        out.append(Send(send.to, outbound.DecisionError(request_id, "internal", text)))
