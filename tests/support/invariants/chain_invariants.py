"""Chains: one handler at a time, each route once for a request, and as often as allowed."""

from collections import defaultdict

from attrs import define, field

from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.features import CHAIN
from trafficmock.wire.payloads.answer import Fallback


@define
class ChainInvariants:
    """The handlers that ran for each request.

    :param knows: the connections with the feature.
    :param running: the run of each request that is not over.
    :param ran: the routes whose handlers ran for a request, or are running.
    """

    knows: set[str] = field(factory=set)
    running: dict[str, str] = field(factory=dict)
    ran: defaultdict[str, set[str]] = field(factory=lambda: defaultdict(set))
    run_ids: set[str] = field(factory=set)

    def took(self, effects: Effects, sender: str | None, cause: object) -> None:
        """Check what an event led to."""
        if isinstance(cause, inbound.Hello) and sender and CHAIN in (cause.features or ()):
            self.knows.add(sender)
        if isinstance(cause, inbound.RequestStart) and not _refuses(effects, cause.request_id):
            self.running.pop(cause.request_id, None)
            self.ran.pop(cause.request_id, None)
        if (
            isinstance(cause, inbound.HandlerResult)
            and isinstance(cause.result, Fallback)
            and self.running.get(cause.request_id) == cause.run_id
            and sender in self.knows
        ):
            del self.running[cause.request_id]
        for effect in effects:
            if not isinstance(effect, Send):
                continue
            message = effect.message
            if isinstance(message, outbound.HandlerRun):
                assert self.knows.issuperset(effect.to), f"does not know it: {effect}"
                assert len(effect.to) == 1, f"run by several: {effect}"
                self._runs(message)
            elif isinstance(message, outbound.RequestMatched):
                assert self.knows.isdisjoint(effect.to), f"left to the worker: {effect}"

    def _runs(self, message: outbound.HandlerRun) -> None:
        request_id = message.request_id
        assert request_id not in self.running, f"two handlers at once: {message}"
        assert message.route_id not in self.ran[request_id], f"twice: {message}"
        assert message.run_id not in self.run_ids, f"used before: {message}"
        self.running[request_id] = message.run_id
        self.ran[request_id].add(message.route_id)
        self.run_ids.add(message.run_id)


def _refuses(effects: Effects, request_id: str) -> bool:
    """Tell whether a request was refused because its id is in use."""
    sent = [each.message for each in effects if isinstance(each, Send)]
    refusals = [each for each in sent if isinstance(each, outbound.DecisionError)]
    return any(each.request_id == request_id and each.code == "internal" for each in refusals)
