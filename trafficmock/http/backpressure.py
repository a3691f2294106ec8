"""Backpressure between clients: a sender of frames is not read while their receiver lags.

Only frames of WebSockets hold their sender back. Everything else comes one request at
a time, and a worker that does not read must not stop the applications of other tests;
it is cut off at the limit of its send queue. So is one that takes nothing of its frames for
:data:`HELD_BACK_SECONDS`, as at a breakpoint: the application that sends them is read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from twisted.internet.interfaces import IDelayedCall, IReactorTime


class FlowControlled(Protocol):
    """Whoever sends or takes frames: a link, or a WebSocket of the forward proxy."""

    id: str
    arriving_bytes: int

    @property
    def shared(self) -> bool:
        """Whether it carries more than one WebSocket, and its queue has a limit."""

    @property
    def drained_total(self) -> int:
        """Bytes that the kernel has taken so far."""

    def pause(self) -> None:
        """Stop reading from it."""

    def resume(self) -> None:
        """Read again."""


P = TypeVar("P", bound=FlowControlled)

ARRIVING_BYTES = 16 * 1024
"""What of a message must arrive between two looks for its sender not to count as silent: one that
drips a byte now and then holds nobody up."""


HELD_BACK_SECONDS = 3.0
"""How long a link waits for another that takes nothing."""

NEXT_TURN_SECONDS = 1e-8
"""The delay of work that goes on in the reactor's next turn, after others had theirs."""


@define(eq=False)
class Backpressure:
    """Pauses and resumes the links that send frames to links which lag behind.

    :param clock: for looks at those that take nothing.
    """

    _clock: IReactorTime
    _lagging: dict[str, set[FlowControlled]] = field(factory=dict)
    _waiting_for: dict[str, set[str]] = field(factory=dict)
    _last_receiver: FlowControlled | None = None
    _taken: dict[str, int] = field(factory=dict)
    _received: dict[str, int] = field(factory=dict)
    _stuck: dict[str, int] = field(factory=dict)
    _looks: dict[tuple[str, str], IDelayedCall] = field(factory=dict)

    def backlogged(self, link: FlowControlled) -> None:
        """Note that a link takes less than it is sent."""
        self._lagging.setdefault(link.id, set())

    def sent_frame(self, receiver: FlowControlled) -> None:
        """Note the link that the present frame was sent to."""
        self._last_receiver = receiver

    def pause_sender(self, sender: FlowControlled) -> None:
        """Stop reading from the sender of a frame whose receiver lags behind."""
        receiver, self._last_receiver = self._last_receiver, None
        if receiver is None or receiver.id not in self._lagging:
            return
        if self._stuck.get(receiver.id) == receiver.drained_total:
            return
        self._lagging[receiver.id].add(sender)
        waits = self._waiting_for.setdefault(sender.id, set())
        if not waits:
            sender.pause()
        waits.add(receiver.id)
        if sender.shared and receiver.shared and (sender.id, receiver.id) not in self._looks:
            self._look_later(sender, receiver)

    def _look_later(self, sender: FlowControlled, receiver: FlowControlled) -> None:
        self._looks[sender.id, receiver.id] = self._clock.callLater(
            HELD_BACK_SECONDS, self._look, sender, receiver, receiver.drained_total
        )

    def _look(self, sender: FlowControlled, receiver: FlowControlled, taken: int) -> None:
        """Read again from a sender whose receiver took nothing meanwhile."""
        del self._looks[sender.id, receiver.id]
        if sender not in self._lagging.get(receiver.id, ()):
            return
        if receiver.drained_total != taken:
            self._look_later(sender, receiver)
            return
        self._stuck[receiver.id] = taken
        self._lagging[receiver.id].discard(sender)
        self._waits_no_more(sender, receiver)

    def _waits_no_more(self, sender: FlowControlled, receiver: FlowControlled) -> None:
        waits = self._waiting_for[sender.id]
        waits.discard(receiver.id)
        if not waits:
            del self._waiting_for[sender.id]
            sender.resume()

    def drained(self, link: FlowControlled) -> None:
        """Read again from those who waited for this link alone."""
        self._stuck.pop(link.id, None)
        for sender in self._lagging.pop(link.id, ()):
            self._waits_no_more(sender, link)

    def gone(self, link: FlowControlled) -> None:
        """Forget a link; nobody waits for it any more, and it for nobody."""
        self.drained(link)
        for receiver_id in self._waiting_for.pop(link.id, ()):
            self._lagging[receiver_id].discard(link)
        for pair in [each for each in self._looks if link.id in each]:
            self._looks.pop(pair).cancel()
        self._taken.pop(link.id, None)
        self._received.pop(link.id, None)

    def living(self, links: Iterable[P]) -> Iterator[P]:
        """Give the links that are silent for a good reason.

        There are three good reasons: the link lags behind, and has taken some of its queue since
        the last call; it has sent more of a message that is not whole yet; or it is not read
        from at present. That a link which does not lag takes data is no sign of life: the kernel
        takes data for a stopped process too.
        """
        for link in links:
            if link.id in self._waiting_for or self._sent_more(link):
                yield link
            elif link.id in self._lagging:
                if self._taken.get(link.id) != link.drained_total:
                    self._taken[link.id] = link.drained_total
                    yield link
            else:
                self._taken.pop(link.id, None)

    def _sent_more(self, link: FlowControlled) -> bool:
        """Look whether enough of a message came since the last call."""
        received = link.arriving_bytes
        if received - self._received.get(link.id, 0) < ARRIVING_BYTES:
            return False
        self._received[link.id] = received
        return True
