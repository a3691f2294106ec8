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
    :param registering: the tests of each worker that are not acknowledged yet, for example because
        a port is being opened for them; it may be told of requests, too.
    """

    asking: set[str] = field(factory=set)
    early: set[str] = field(factory=set)
    registering: dict[str, set[str]] = field(factory=lambda: defaultdict(set))
    tests: dict[str, set[str]] = field(factory=lambda: defaultdict(set))
    ended: dict[str, set[str]] = field(factory=lambda: defaultdict(set))
    subscribed: dict[str, set[str]] = field(factory=lambda: defaultdict(set))

    def left(self, connection_id: str) -> None:
        """Forget a connection that is gone."""
        self.asking.discard(connection_id)
        self.registering.pop(connection_id, None)
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
        if sender is not None and isinstance(cause, inbound.TestRegister):
            self.registering[sender].add(cause.test_id)
        for effect in effects:
            if isinstance(effect, Send):
                self._sent(effect)
        if isinstance(cause, inbound.RequestStart):
            self._observed(effects, cause)

    def _observed(self, effects: Effects, cause: inbound.RequestStart) -> None:
        """Check who is told of a request; some are told when it came, others are not."""
        sends = [
            each
            for each in effects
            if isinstance(each, Send)
            and isinstance(each.message, outbound.RequestObserved)
            and each.message.request_id == cause.request_id
        ]
        told = {receiver for send in sends for receiver in send.to}
        assert len(told) == sum(len(send.to) for send in sends), f"told twice: {sends}"
        if not told:
            return
        audience = self._audience()
        early = self.early | {worker for worker, tests in self.registering.items() if tests}
        if cause.context is UNSET:  # else see ContextInvariants
            assert told - (early - audience) == audience, f"told of {sends}, not {audience}"
        else:
            assert told <= audience | early, f"told of {sends} unasked"

    def _sent(self, send: Send) -> None:
        message, receiver = send.message, send.to[0]
        if isinstance(message, outbound.HelloOk) and SUBSCRIBE in (message.features or ()):
            self.asking.add(receiver)
        elif isinstance(message, outbound.TestRegistered):
            self.registering[receiver].discard(message.test_id)
            self.tests[receiver].add(message.test_id)
            self.ended[receiver].discard(message.test_id)
        elif isinstance(message, outbound.TestUnregistered):
            self._ended(receiver, message.test_id)
        elif isinstance(message, outbound.TestSubscribed):
            assert receiver in self.asking, f"subscribed unasked: {send}"
            if message.test_id not in self.ended[receiver]:
                assert message.test_id in self.tests[receiver], f"subscribed for another's: {send}"
                self.subscribed[receiver].add(message.test_id)

    def _ended(self, worker: str, test_id: str) -> None:
        self.registering[worker].discard(test_id)
        if test_id in self.tests[worker]:
            self.tests[worker].discard(test_id)
            self.ended[worker].add(test_id)
        self.subscribed[worker].discard(test_id)

    def _audience(self) -> set[str]:
        told = self.subscribed.items()
        everything = {each for each, tests in self.tests.items() if tests} - self.asking
        return everything | {worker for worker, tests in told if tests}
