"""Watches that traffic with a test's context concerns no other test, and that no id gets out."""

import re

from attrs import define, field

from trafficmock.core.effects import Effect, Effects, Note, Send
from trafficmock.records import RequestSeen, SocketSeen
from trafficmock.wire import inbound, outbound
from trafficmock.wire.agent_filter import FilterAdd, FilterDrop, FilterSet
from trafficmock.wire.features import CONTEXT
from trafficmock.wire.local_reports import RequestPassed

FILTERS = (FilterSet, FilterAdd, FilterDrop)
_ID = re.compile("[0-9a-f]{32}")
CONCERNING = (
    outbound.RequestClaim,
    outbound.RequestMatched,
    outbound.HandlerRun,
    outbound.RequestObserved,
    outbound.SocketClaim,
    outbound.SocketMatched,
)


@define
class ContextInvariants:
    """Which worker each running test's context belongs to, and what carried it.

    :param knowing: the connections with the feature.
    :param running: worker and test by context.
    :param workers: whose test a request or WebSocket was made for, by its id.
    """

    knowing: set[str] = field(factory=set)
    running: dict[str, tuple[str, str]] = field(factory=dict)
    ever: set[str] = field(factory=set)
    workers: dict[str, str] = field(factory=dict)

    def left(self, connection_id: str) -> None:
        """Forget a connection that is gone."""
        self.knowing.discard(connection_id)
        self.running = {
            context: holder
            for context, holder in self.running.items()
            if holder[0] != connection_id
        }

    def took(self, effects: Effects, sender: str | None, cause: object) -> None:
        """Check what an event led to."""
        public = [each for each in effects if not _tells_of_strict_tests(each)]
        if isinstance(cause, inbound.HandlerResult):
            # The application gets what the handler wrote.
            public = [each for each in public if not _is_of_handler(each)]
        assert not self.ever.intersection(_ID.findall(repr(public))), "an id got out"
        if sender is not None:
            self._heard(effects, sender, cause)
        for effect in effects:
            if isinstance(effect, Send):
                self._sent(effect)

    def _heard(self, effects: Effects, sender: str, cause: object) -> None:
        starts = (inbound.RequestStart, RequestPassed)
        if isinstance(cause, starts) and _has(effects, RequestSeen):
            self._carries(cause.request_id, sender, cause.context)
        elif isinstance(cause, inbound.SocketOpen) and _has(effects, SocketSeen):
            self._carries(cause.socket_id, sender, cause.context)
        elif isinstance(cause, inbound.RequestObserve) and not _refused(effects):
            self.workers.pop(cause.request_id, None)
            # A hop belongs to whom its chain belongs, which is not followed here.
            for each in effects:
                if isinstance(each, Send) and getattr(each.message, "context", None) == "own":
                    self.workers[cause.request_id] = each.to[0]
        elif isinstance(cause, inbound.TestRegister) and cause.context and sender in self.knowing:
            holder = self.running.get(cause.context)
            # It holds from now on, although the acknowledgement may wait for agents.
            if not any(_is_refusal(each) for each in effects):
                assert holder in (None, (sender, cause.test_id)), "claimed twice"
                self.running[cause.context] = sender, cause.test_id
                self.ever.add(cause.context)

    def _carries(self, subject_id: str, sender: str, context: object) -> None:
        holder = self.running.get(str(context)) if sender in self.knowing else None
        self.workers.pop(subject_id, None)
        if holder is not None:
            self.workers[subject_id] = holder[0]

    def _sent(self, send: Send) -> None:
        message = send.message
        if isinstance(message, outbound.HelloOk) and CONTEXT in (message.features or ()):
            self.knowing.add(send.to[0])
        elif isinstance(message, outbound.TestUnregistered):
            ended = send.to[0], message.test_id
            self.running = {c: holder for c, holder in self.running.items() if holder != ended}
        elif isinstance(message, CONCERNING):
            self._concerns(send, message)

    def _concerns(self, send: Send, message: inbound.Message) -> None:
        subject_id: str = getattr(message, "request_id", "") or getattr(message, "socket_id", "")
        worker = self.workers.get(subject_id)
        observed = isinstance(message, outbound.RequestObserved)
        if worker is not None:
            told = {each for each in send.to if not observed or each in self.knowing}
            assert told <= {worker}, f"another test's: {send}"
        if getattr(message, "context", None) == "own":
            assert send.to == (worker,), f"not this worker's own: {send}"


def _is_refusal(effect: Effect) -> bool:
    """Tell whether this refuses what a worker sent, or ignores what an agent may not send."""
    if isinstance(effect, Note):
        return "not for its role" in effect.text
    return isinstance(effect, Send) and isinstance(effect.message, outbound.ProxyError)


def _tells_of_strict_tests(effect: Effect) -> bool:
    """Tell whether this has the contexts of strict tests, for agents."""
    return isinstance(effect, Send) and isinstance(effect.message, FILTERS)


def _is_of_handler(effect: Effect) -> bool:
    """Tell whether this carries a handler's own changes to the request's agent."""
    return isinstance(effect, Send) and isinstance(effect.message, outbound.DecisionContinue)


def _refused(effects: Effects) -> bool:
    """Tell whether a request was refused because its id is in use."""
    return any(isinstance(each, Note) and "twice" in each.text for each in effects)


def _has(effects: Effects, kind: type) -> bool:
    return any(isinstance(effect, kind) for effect in effects)
