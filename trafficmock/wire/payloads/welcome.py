"""The parts of ``hello:ok`` that only some clients get."""

from msgspec import Struct


class BodyLimits(Struct, frozen=True, rename="camel"):
    """The most bytes of a body that an agent with the feature ``stream`` sends.

    :param history: of a body that only the history uses.
    :param handler: of a body that :class:`~trafficmock.wire.outbound.NeedBody` requested.
    """

    history: int
    handler: int
