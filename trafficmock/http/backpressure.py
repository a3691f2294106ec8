"""Backpressure between clients: the sender of WebSocket frames is paused while the receiver lags.

A **link** is one connection on the coordinator WebSocket
(:mod:`trafficmock.server.websocket`), or one WebSocket of the forward proxy.

Only frames of WebSockets pause their sender. Everything else comes one request at
a time, and a worker that does not read must not stop the applications of other tests: it is
disconnected when its send queue is full. Nor does a link wait longer than
:data:`HELD_BACK_SECONDS` for another that reads nothing, such as a worker at a breakpoint: then the
sender is read again, and the send queue's limit applies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from attrs import define, field
from twisted.internet.interfaces import IDelayedCall, IReactorTime


class FlowControlled(Protocol):
    """A sender or receiver of frames: a link, or a WebSocket of the forward proxy.

    ``id`` is unique. ``arriving_bytes`` counts the received bytes of large messages while they
    arrive; it never decreases.
    """

    id: str
    arriving_bytes: int

    @property
    def shared(self) -> bool:
        """Whether the link carries more than one WebSocket and its send queue has a limit."""

    @property
    def drained_total(self) -> int:
        """The bytes that the kernel has accepted since the link was opened."""

    def pause(self) -> None:
        """Stop reading from the link."""

    def resume(self) -> None:
        """Read from the link again."""


P = TypeVar("P", bound=FlowControlled)

ARRIVING_BYTES = 16 * 1024
"""Bytes of an incomplete message that count as a sign of life of their sender. A sender of single
bytes counts as silent."""


HELD_BACK_SECONDS = 3.0
"""Seconds for which a link is paused because of another that reads nothing."""

NEXT_TURN_SECONDS = 1e-8
"""The delay, for ``callLater``, of work that continues in a later iteration of the reactor, after
the events of other connections."""


@define(eq=False)
class Backpressure:
    """Pauses and resumes the links that send frames to lagging links.

    A link **lags** from :meth:`backlogged` to :meth:`drained`.

    :param clock: schedules the checks after :data:`HELD_BACK_SECONDS`.
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
        """Handle that the send queue of a link has passed its high-water mark."""
        self._lagging.setdefault(link.id, set())

    def sent_frame(self, receiver: FlowControlled) -> None:
        """Note the receiver of the frame that is being handled, for :meth:`pause_sender`."""
        self._last_receiver = receiver

    def pause_sender(self, sender: FlowControlled) -> None:
        """Pause the sender of the frame that is being handled, if its receiver lags."""
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
        """Resume a sender whose receiver has accepted no bytes since the last check."""
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
        """Resume the senders that were paused because of this link alone."""
        self._stuck.pop(link.id, None)
        for sender in self._lagging.pop(link.id, ()):
            self._waits_no_more(sender, link)

    def gone(self, link: FlowControlled) -> None:
        """Forget a closed link, and resume the senders that were paused because of it."""
        self.drained(link)
        for receiver_id in self._waiting_for.pop(link.id, ()):
            self._lagging[receiver_id].discard(link)
        for pair in [each for each in self._looks if link.id in each]:
            self._looks.pop(pair).cancel()
        self._taken.pop(link.id, None)
        self._received.pop(link.id, None)

    def living(self, links: Iterable[P]) -> Iterator[P]:
        """Yield the links that gave a sign of life other than a message.

        Such a link is paused; or at least :data:`ARRIVING_BYTES` of an incomplete message came
        since that last counted; or it lags, and has accepted bytes of its send queue since the last
        call. Accepted bytes prove nothing for a link that does not lag: the kernel accepts data
        for a stopped process too.

        :param links: all links.
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
        """Return whether :data:`ARRIVING_BYTES` of a message came since this was last true."""
        received = link.arriving_bytes
        if received - self._received.get(link.id, 0) < ARRIVING_BYTES:
            return False
        self._received[link.id] = received
        return True
