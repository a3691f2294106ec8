"""Watches who is told of requests that come: whoever asked to be, and nobody else."""

from collections import defaultdict

from attrs import define, field
from msgspec import UNSET

from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.features import SUBSCRIBE


@define
class SubscriptionInvariants:
    """The tests of each worker, and those among them that asked.

    :param asking: workers that are told only what they ask for.
    :param ended: the tests of each worker that have ended; what it asked for them before may be
        acknowledged after that.
    :param early: those who have asked; they may be told before that is acknowledged.
    """

    asking: set[str] = field(factory=set)
    early: set[str] = field(factory=set)
    tests: dict[str, set[str]] = field(factory=lambda: defaultdict(set))
    ended: dict[str, set[str]] = field(factory=lambda: defaultdict(set))
    subscribed: dict[str, set[str]] = field(factory=lambda: defaultdict(set))

    def left(self, connection_id: str) -> None:
        """Forget a connection that is gone."""
        self.asking.discard(connection_id)
        self.tests.pop(connection_id, None)
        self.ended.pop(connection_id, None)
        self.subscribed.pop(connection_id, None)

    def took(self, effects: Effects, sender: str | None, cause: object) -> None:
        """Check what an event led to."""
        if isinstance(cause, inbound.TestUnregister) and sender is not None:
            # Its worker is told of no more, though the answer may take several turns.
            self._ended(sender, cause.test_id)
        if sender is not None and isinstance(cause, inbound.TestSubscribe):
            self.early.add(sender)
        for effect in effects:
            if isinstance(effect, Send):
                self._sent(effect, cause)

    def _sent(self, send: Send, cause: object) -> None:
        message, receiver = send.message, send.to[0]
        if isinstance(message, outbound.HelloOk) and SUBSCRIBE in (message.features or ()):
            self.asking.add(receiver)
        elif isinstance(message, outbound.TestRegistered):
            self.tests[receiver].add(message.test_id)
            self.ended[receiver].discard(message.test_id)
        elif isinstance(message, outbound.TestUnregistered):
            self._ended(receiver, message.test_id)
        elif isinstance(message, outbound.TestSubscribed):
            assert receiver in self.asking, f"subscribed unasked: {send}"
            if message.test_id not in self.ended[receiver]:
                assert message.test_id in self.tests[receiver], f"subscribed for another's: {send}"
                self.subscribed[receiver].add(message.test_id)
        elif isinstance(message, outbound.RequestObserved) and isinstance(
            cause, inbound.RequestStart
        ):
            if cause.context is UNSET:  # else see ContextInvariants
                told = set(send.to) - (self.early - self._audience())
                assert told == self._audience(), f"told of {send}, not {self._audience()}"
            else:
                assert set(send.to) <= self._audience() | self.early, f"told of {send} unasked"

    def _ended(self, worker: str, test_id: str) -> None:
        if test_id in self.tests[worker]:
            self.tests[worker].discard(test_id)
            self.ended[worker].add(test_id)
        self.subscribed[worker].discard(test_id)

    def _audience(self) -> set[str]:
        told = self.subscribed.items()
        everything = {each for each, tests in self.tests.items() if tests} - self.asking
        return everything | {worker for worker, tests in told if tests}
