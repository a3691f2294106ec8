"""Decodes bodies in short steps, so that the reactor can do other work in between."""

from __future__ import annotations

from collections.abc import Callable, Generator

from attrs import define, field
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.internet.task import Cooperator, TaskStopped
from twisted.python.failure import Failure

from trafficmock.http.backpressure import NEXT_TURN_SECONDS
from trafficmock.proxy.http1.content_codings import Decoded, decoding, is_coded
from trafficmock.proxy.http1.heads import Pairs
from trafficmock.proxy.transfer.body_capture import BodyCapture

DecodedMessage = tuple[Pairs, bytes | bytearray]

STEPS_AT_ONCE = 4
"""Steps that are taken at once; most bodies need no more."""

MOST_WAITING_BYTES = 64 * 2**20
"""Coded bytes of bodies that wait to be decoded; beyond it, bodies are left coded."""


@define(eq=False)
class Decoders:
    """Decodes bodies, one step of one body in each turn of the reactor.

    :param clock: schedules the next turn.
    """

    clock: IReactorTime
    waiting_bytes: int = field(default=0, init=False)
    _cooperator: Cooperator = field(init=False)

    def __attrs_post_init__(self) -> None:
        # One step in a turn, so that other work waits for a few milliseconds at most.
        self._cooperator = Cooperator(
            terminationPredicateFactory=lambda: lambda: True, scheduler=self._next_turn
        )

    @property
    def busy(self) -> bool:
        """Whether the queue is full."""
        return self.waiting_bytes >= MOST_WAITING_BYTES

    def plain(
        self, pairs: Pairs, copy: BodyCapture | None, limit: int, *, soon: bool = False
    ) -> Deferred[DecodedMessage]:
        """Take the bytes of a copied body, and decode them if they are coded.

        A truncated copy is not decoded.

        :param pairs: the header, with the codings.
        :param copy: the copied body; ``None`` for no body.
        :param limit: bytes of the largest decoded body, 0 for no limit.
        :param soon: whether a body that needs more than :data:`STEPS_AT_ONCE` steps is left coded,
            so that the result is there at once.
        :returns: the header and body after decoding; unchanged if the body stays coded.
        """
        if copy is None:
            return succeed((pairs, b""))
        whole = not copy.truncated
        content = copy.take()
        if not (whole and content and is_coded(pairs)):
            return succeed((pairs, content))
        steps = decoding(pairs, content, limit)
        try:
            for _ in range(STEPS_AT_ONCE):
                next(steps)
        except StopIteration as end:
            return succeed(end.value or (pairs, content))
        if soon:
            return succeed((pairs, content))
        return self._finish(steps, (pairs, content))

    def stop(self) -> None:
        """Stop decoding; bodies that are still waiting stay coded."""
        self._cooperator.stop()

    def _finish(
        self, steps: Generator[None, None, Decoded | None], as_it_came: DecodedMessage
    ) -> Deferred[DecodedMessage]:
        size = len(as_it_came[1])
        self.waiting_bytes += size
        result: list[DecodedMessage] = []

        def run() -> Generator[None, None, None]:
            result.append((yield from steps) or as_it_came)

        def over(outcome: object) -> None:
            self.waiting_bytes -= size
            # A task whose Deferred was cancelled (TaskStopped) has nobody to call back. One that
            # ended with the service has no result, and leaves the body coded.
            if not (isinstance(outcome, Failure) and outcome.check(TaskStopped)):
                done.callback(result[0] if result else as_it_came)

        task = self._cooperator.cooperate(run())
        done: Deferred[DecodedMessage] = Deferred(lambda _: task.stop())
        task.whenDone().addBoth(over)
        return done

    def _next_turn(self, call: Callable[[], None]) -> IDelayedCall:
        return self.clock.callLater(NEXT_TURN_SECONDS, call)
