"""Watches that each wait ends once, and that only what its worker was told of meets it."""

from attrs import define, field

from trafficmock.core.effects import Effects, Overdue, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.waits.wait_messages import (
    WaitCancel,
    WaitJudge,
    WaitJudged,
    WaitMet,
    WaitOverdue,
    WaitRegister,
)

Key = tuple[str, str]
"""A connection, and the id of a wait or of a request."""


@define
class WaitInvariants:
    """The waits that may be open, and the requests that their workers were told of.

    :param open: the test of each wait.
    :param repeated: the waits whose id was used again while they were open.
    :param judging: the request about which the worker of a wait is asked.
    """

    open: dict[Key, str] = field(factory=dict)
    judging: dict[Key, str] = field(factory=dict)
    told: set[Key] = field(factory=set)
    repeated: set[Key] = field(factory=set)

    def left(self, connection_id: str) -> None:
        """Forget a connection that is gone."""
        for key in [each for each in self.open if each[0] == connection_id]:
            self._end(key)

    def took(self, effects: Effects, sender: str | None, cause: object) -> None:
        """Check what an event led to."""
        if sender is not None:
            self._heard(sender, cause)
        for effect in effects:
            if isinstance(effect, Overdue):
                self._end((effect.connection_id, effect.wait_id))
            elif isinstance(effect, Send):
                for connection_id in effect.to:
                    self._sent(connection_id, effect.message)

    def _heard(self, sender: str, cause: object) -> None:
        match cause:
            case WaitRegister():
                key = sender, cause.wait_id
                if key in self.open:
                    self.repeated.add(key)
                self.open.setdefault(key, cause.test_id)
            case WaitCancel():
                self.open.pop((sender, cause.wait_id), None)
                self.judging.pop((sender, cause.wait_id), None)
            case WaitJudged():
                key = sender, cause.wait_id
                if self.judging.get(key) == cause.request_id:
                    del self.judging[key]
            case inbound.TestUnregister():
                ended = [key for key, test_id in self.open.items() if test_id == cause.test_id]
                for key in ended:
                    if key[0] == sender:
                        self._end(key)

    def _sent(self, to: str, message: inbound.Message) -> None:
        match message:
            case outbound.RequestObserved() | outbound.HandlerRun() | outbound.RequestReplied():
                self.told.add((to, message.request_id))
            case WaitJudge() | WaitMet():
                key = to, message.wait_id
                assert key in self.open, f"no such wait: {message}"
                assert (to, message.request_id) in self.told, f"not told before: {message}"
                if isinstance(message, WaitMet):
                    self._end(key)
                else:
                    assert key not in self.judging, f"is being judged: {message}"
                    self.judging[key] = message.request_id
            case WaitOverdue():
                self._end((to, message.wait_id))

    def _end(self, key: Key) -> None:
        # The end of a wait may be on its way when its id is used again: then there are two ends.
        assert key in self.open or key in self.repeated, f"the wait has ended: {key}"
        self.open.pop(key, None)
        self.judging.pop(key, None)
