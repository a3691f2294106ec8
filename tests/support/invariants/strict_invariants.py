"""Watches that the messages of strict mode go only to those who know it."""

from attrs import define, field

from trafficmock.core.effects import Effects, Send
from trafficmock.wire import outbound
from trafficmock.wire.features import STRICT

ONLY_WITH_FEATURE = (outbound.TestStricted, outbound.RunStricted, outbound.Unmatched)
WITH_CODE = (outbound.DecisionError, outbound.SocketError, outbound.ProxyError)


@define
class StrictInvariants:
    """The connections with the feature."""

    knowing: set[str] = field(factory=set)

    def left(self, connection_id: str) -> None:
        """Forget a connection that is gone."""
        self.knowing.discard(connection_id)

    def took(self, effects: Effects) -> None:
        """Check what an event led to."""
        for effect in effects:
            if isinstance(effect, Send):
                self._sent(effect)

    def _sent(self, send: Send) -> None:
        message = send.message
        if isinstance(message, outbound.HelloOk) and STRICT in (message.features or ()):
            self.knowing.add(send.to[0])
        coded = isinstance(message, WITH_CODE) and message.code == outbound.UNMATCHED
        if coded or isinstance(message, ONLY_WITH_FEATURE):
            assert self.knowing.issuperset(send.to), f"without the feature: {send}"
