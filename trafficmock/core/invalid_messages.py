"""Messages that are not valid, and messages too large to be sent: whoever waits is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define
from msgspec import UNSET, structs

from trafficmock.core import error_messages
from trafficmock.core.effects import Effects, Note, Send
from trafficmock.core.peers import Agent, Worker
from trafficmock.wire import body, inbound, outbound
from trafficmock.wire.serialized_response import SerializedError

if TYPE_CHECKING:
    from trafficmock.core.decisions import Decisions
    from trafficmock.core.deferred_bodies import PendingBodies
    from trafficmock.core.response_reports import ResponseReports
    from trafficmock.core.websocket_routing import WebSocketRouting
    from trafficmock.wire.codec import InvalidMessageError


@define
class InvalidMessages:
    """Answers bad input so that it harms nobody but its sender."""

    decisions: Decisions
    sockets: WebSocketRouting
    reports: ResponseReports
    bodies: PendingBodies

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


MOST_TEXT = 2000
"""Characters of a text that goes in the place of something too large."""


@define
class OversizedMessages:
    """Keeps what is too large from breaking a connection, and from leaving anybody waiting."""

    decisions: Decisions
    sockets: WebSocketRouting
    reports: ResponseReports

    def replace(self, send: Send, size: int, limit: int, out: Effects) -> None:
        """Put something smaller in place of a message of ``size`` bytes, over ``limit``.

        News lose their body; what carries a decision or an answer becomes a failure.
        What cannot be made smaller is dropped: a claim then times out.
        """
        message = send.message
        match message:
            case outbound.RequestMatched():
                self._match(message, size, limit, out)
            case outbound.DecisionFetch():
                self._fetch(message, size, limit, out)
            case outbound.SocketMatched():
                self._socket(message, size, limit, out)
            case outbound.DecisionFulfill() | outbound.DecisionContinue():
                self._decision(send, message, size, limit, out)
            case _:
                smaller = _smaller(message, size, limit)
                if smaller is None or smaller == message:
                    text = _text(type(message).__name__, size, limit)
                    out.append(Note("warn", f"Dropped: {text}"))
                else:
                    out.append(Send(send.to, smaller))

    def _match(self, message: outbound.RequestMatched, size: int, limit: int, out: Effects) -> None:
        pending = self.decisions.pending.get(message.request_id)
        if pending is not None:
            text = _text(str(pending), size, limit)
            self.decisions.fail_owner(pending, "internal", text, out)

    def _socket(self, message: outbound.SocketMatched, size: int, limit: int, out: Effects) -> None:
        socket = self.sockets.sockets.get(message.socket_id)
        if socket is not None:
            self.sockets.fail(socket, "internal", _text(str(socket), size, limit), out)

    def _fetch(self, message: outbound.DecisionFetch, size: int, limit: int, out: Effects) -> None:
        request_id, fetch_id = message.request_id, message.fetch_id
        pending = self.decisions.pending.get(request_id)
        if pending is not None:
            worker_id = pending.agent.fetches.pop((request_id, fetch_id))
            pending.fetches.discard(fetch_id)
            failure = SerializedError("Error", _text("The fetch", size, limit))
            answer = outbound.FetchDone(request_id, fetch_id, ok=False, error=failure)
            out.append(Send((worker_id,), answer))

    def _decision(
        self,
        send: Send,
        message: outbound.DecisionFulfill | outbound.DecisionContinue,
        size: int,
        limit: int,
        out: Effects,
    ) -> None:
        request_id, text = message.request_id, _text("The decision", size, limit)
        if isinstance(message, outbound.DecisionContinue):
            self.reports.undelivered(request_id, SerializedError("Error", text), out)
        out.append(Send(send.to, outbound.DecisionError(request_id, "internal", text)))


def _smaller(  # noqa: PLR0911 - one answer for each kind of message
    message: inbound.Message, size: int, limit: int
) -> inbound.Message | None:
    """Write a message without what makes it large; ``None`` if there is nothing to leave out."""
    match message:
        case outbound.RequestObserved() | outbound.RequestClaim():
            request = structs.replace(message.request, body_base64=body.NULL)
            return structs.replace(message, request=request)
        case inbound.RequestResponse():
            return _smaller_response(message)
        case outbound.FetchDone():
            failure = SerializedError("Error", _text("The response", size, limit))
            return structs.replace(message, ok=False, response=UNSET, error=failure)
        case outbound.DecisionAbort():
            return structs.replace(message, message=UNSET)
        case outbound.DecisionError() | outbound.SocketError():
            text = message.message[:MOST_TEXT]
            return structs.replace(message, message=text, matches=UNSET)
        case outbound.ProxyError():
            return structs.replace(message, message=message.message[:MOST_TEXT], detail=UNSET)
    return None


def _smaller_response(message: inbound.RequestResponse) -> inbound.RequestResponse:
    response, error = message.response, message.error
    if response is not UNSET:
        response = structs.replace(response, body_base64=body.NULL)
    if error is not UNSET:
        error = SerializedError("Error", error.message[:MOST_TEXT])
    return structs.replace(message, response=response, error=error)


def _text(subject: str, size: int, limit: int) -> str:
    return error_messages.too_big_to_send(subject[:MOST_TEXT], size, limit)
