"""What a test does to a real answer on its way back: it breaks, or its body comes at a rate."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field
from msgspec import UNSET
from twisted.internet.interfaces import IDelayedCall, IPushProducer, IReactorTime
from zope.interface import implementer

from trafficmock.proxy.http1.framing import BodyKind, Framing
from trafficmock.proxy.upstream_errors import UpstreamError
from trafficmock.wire.payloads.answer import BodyWay
from trafficmock.wire.payloads.serialized_response import FAULT


@define
class BrokenAnswer:
    """A real answer that breaks.

    :param way: has the fault.
    :ivar left: the bytes of its body that come before the fault; ``None`` if it comes at the end.
    """

    way: BodyWay
    left: int | None = field(init=False, default=None)
    _taken: int = field(init=False, default=0)

    @property
    def is_unanswered(self) -> bool:
        """Whether the fault comes in the place of an answer."""
        return self.way.after is UNSET and self.way.then != "truncated"

    @property
    def is_behind_end(self) -> bool:
        """Whether the fault does not happen although the body has ended."""
        return self.way.after is not UNSET and self.way.then != "malformed_chunk"

    def begin(self, framing: Framing) -> bool:
        """Take the framing of the real answer.

        :returns: whether the fault can happen: not without a body, nor behind its end.
        """
        length = framing.length if framing.kind is BodyKind.LENGTH else None
        after, kind = self.way.after, self.way.then
        if after is not UNSET:
            self.left = after
        else:
            self.left = None if length is None else length // 2
        if framing.kind is BodyKind.NONE:
            return False
        return length is None or kind == "malformed_chunk" or (self.left or 0) < length

    def take(self, data: bytes) -> bytes:
        """Return the part of a piece of the body that comes before the fault."""
        part = data[: self.left]
        self._taken += len(part)
        if self.left is not None:
            self.left -= len(part)
        return part

    def error(self) -> UpstreamError:
        """Return what is reported of the answer."""
        text = f"the fault {self.way.then} of the test, after {self._taken} bytes of the body"
        return UpstreamError(text, code=FAULT, errno=FAULT)


@implementer(IPushProducer)
@define(eq=False)
class RatedBody:
    """Writes the body of an answer in slices, and reads the server only as it has written.

    :param size: the bytes of a slice.
    :param pause: the seconds after a slice.
    :param write: takes a piece of the body.
    :param source: the connection to the server; paused while there is more to write.
    """

    size: int
    pause: float
    clock: IReactorTime
    write: Callable[[bytes], None]
    source: IPushProducer
    _waiting: bytearray = field(init=False, factory=bytearray, repr=False)
    _timer: IDelayedCall | None = field(init=False, default=None)
    _paused: bool = field(init=False, default=False)
    _ended: Callable[[], None] | None = field(init=False, default=None)

    def data(self, data: bytes) -> None:
        """Take a piece of the server's."""
        self._waiting += data
        self._go_on()
        if self._waiting:
            self.source.pauseProducing()

    def end(self, ended: Callable[[], None]) -> None:
        """Call ``ended`` when all is written: the server has sent everything."""
        self._ended = ended
        self._go_on()

    def stop(self) -> None:
        """Write nothing more."""
        self._waiting.clear()
        self._ended = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _go_on(self) -> None:
        if self._timer is not None or self._paused:
            return
        if self._waiting:
            piece = bytes(self._waiting[: self.size])
            del self._waiting[: self.size]
            self._timer = self.clock.callLater(self.pause, self._due)
            self.write(piece)
        elif self._ended is not None:
            ended, self._ended = self._ended, None
            ended()
        else:
            self.source.resumeProducing()

    def _due(self) -> None:
        self._timer = None
        self._go_on()

    # The producer of the client's transport

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Write nothing: the client does not read."""
        self._paused = True

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Write on."""
        self._paused = False
        self._go_on()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Do nothing: the client's connection tells the request that it is lost."""
