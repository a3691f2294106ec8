"""Fixed answers: given at once without a delay, told to the owner alone, as often as allowed."""

from attrs import define, field
from msgspec import UNSET

from trafficmock import records
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.features import CHAIN


@define
class ReplyInvariants:
    """How often the reply of each route may still be given, by worker and route."""

    left: dict[tuple[str, str], int] = field(factory=dict)
    knows: set[str] = field(factory=set)
    """The connections with the feature ``chain``."""
    delayed: set[tuple[str, str]] = field(factory=set)
    """The routes with a delay, and those that are recorded, by worker and route."""

    def took(self, effects: Effects, sender: str | None, cause: object) -> None:
        """Check what an event led to."""
        if isinstance(cause, inbound.Hello) and sender and CHAIN in (cause.features or ()):
            self.knows.add(sender)
        sent = [effect.message for effect in effects if isinstance(effect, Send)]
        fulfilled = {e.request_id for e in effects if isinstance(e, records.RequestFulfilled)}
        refused = any(isinstance(message, outbound.ProxyError) for message in sent)
        if isinstance(cause, inbound.RouteRegister) and sender is not None and not refused:
            # It counts at once, also where its acknowledgement waits for agents.
            self._registered(sender, cause)
        for effect in effects:
            message = effect.message if isinstance(effect, Send) else None
            to = effect.to if isinstance(effect, Send) else ()
            if isinstance(message, outbound.RouteExpired):
                assert self.knows.issuperset(to), f"does not know it: {effect}"
            elif isinstance(message, outbound.RequestReplied):
                assert self.knows.issuperset(to), f"does not know it: {effect}"
                assert len(to) == 1, f"told several: {effect}"
                if message.action is UNSET and (to[0], message.route_id) not in self.delayed:
                    assert message.request_id in fulfilled, f"not given: {effect}"
                self._gave(to[0], message.route_id)
            elif isinstance(message, outbound.HandlerRun):
                self._gave(to[0], message.route_id)

    def _registered(self, worker: str, cause: inbound.RouteRegister) -> None:
        key = worker, cause.route_id
        is_delayed = any(
            b"delay" in bytes(value) or name == "delay"
            for name, value in (cause.options or {}).items()
        )
        if is_delayed or cause.record is not UNSET:
            self.delayed.add(key)
        if worker in self.knows and isinstance(cause.times, int):
            self.left[key] = cause.times
        else:
            self.left.pop(key, None)

    def _gave(self, worker: str, route_id: str) -> None:
        key = worker, route_id
        if key in self.left:
            self.left[key] -= 1
            assert self.left[key] >= 0, f"{route_id} of {worker} was given too often"
