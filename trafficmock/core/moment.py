"""The time of an event, handed in by whoever reports the event."""

from attrs import frozen


@frozen
class Moment:
    """One instant on two clocks.

    :param seconds: monotonic seconds, for deadlines.
    :param epoch_ms: milliseconds since 1970, for what people and clients see.
    """

    seconds: float
    epoch_ms: int
