"""Decodes bodies in short steps, so that other work goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Cooperator, TaskStopped
from twisted.python.failure import Failure

from trafficmock.http.backpressure import NEXT_TURN_SECONDS
from trafficmock.proxy.http1.content_codings import decoding, is_coded

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from twisted.internet.interfaces import IDelayedCall, IReactorTime

    from trafficmock.proxy.http1.content_codings import Decoded
    from trafficmock.proxy.http1.heads import Pairs
    from trafficmock.proxy.transfer.body_capture import BodyCapture

    Plain = tuple[Pairs, bytes | bytearray]

STEPS_AT_ONCE = 4
"""Steps that are taken in place; most bodies need no more."""

MOST_WAITING_BYTES = 64 * 2**20
"""Coded bytes of answers that wait to be decoded; what comes beyond is shown as it came."""


@define(eq=False)
class Decoders:
    """Decodes bodies in slices of time that all of them share.

    :param clock: begins the next slice.
    """

    clock: IReactorTime
    waiting_bytes: int = field(default=0, init=False)
    _cooperator: Cooperator = field(init=False)

    def __attrs_post_init__(self) -> None:
        # One step in a turn: whoever waits for several turns waits for milliseconds.
        self._cooperator = Cooperator(
            terminationPredicateFactory=lambda: lambda: True, scheduler=self._next_turn
        )

    @property
    def busy(self) -> bool:
        """Whether the queue is full."""
        return self.waiting_bytes >= MOST_WAITING_BYTES

    def plain(
        self, pairs: Pairs, copy: BodyCapture | None, limit: int, *, soon: bool = False
    ) -> Deferred[Plain]:
        """Take a body and decode it, where that can be done here.

        :param pairs: the header, which says how the body is coded.
        :param copy: of the body, ``None`` for none; a cut one stays as it is.
        :param limit: bytes that may come out, 0 for any number.
        :param soon: rather leave the body coded than wait for a long decoding.
        :returns: the header and the body, both as they came where the body stays coded.
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
        """Stop: bodies that are still waiting stay encoded."""
        self._cooperator.stop()

    def _finish(
        self, steps: Generator[None, None, Decoded | None], as_it_came: Plain
    ) -> Deferred[Plain]:
        size = len(as_it_came[1])
        self.waiting_bytes += size
        result: list[Plain] = []

        def run() -> Generator[None, None, None]:
            result.append((yield from steps) or as_it_came)

        def over(outcome: object) -> None:
            self.waiting_bytes -= size
            # Nobody waits for a task that was cancelled; one that the service's end has
            # stopped has no result.
            if not (isinstance(outcome, Failure) and outcome.check(TaskStopped)):
                done.callback(result[0] if result else as_it_came)

        task = self._cooperator.cooperate(run())
        done: Deferred[Plain] = Deferred(lambda _: task.stop())
        task.whenDone().addBoth(over)
        return done

    def _next_turn(self, call: Callable[[], None]) -> IDelayedCall:
        return self.clock.callLater(NEXT_TURN_SECONDS, call)
