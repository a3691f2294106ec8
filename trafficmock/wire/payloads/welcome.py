"""The parts of ``hello:ok`` that only some clients get."""

from msgspec import Struct


class BodyLimits(Struct, frozen=True, rename="camel"):
    """The most bytes of a body that an agent with the feature ``stream`` sends.

    :param history: of a body that only the history uses.
    :param handler: of a body that :class:`~trafficmock.wire.outbound.NeedBody` requested.
    """

    history: int
    handler: int


class Redaction(Struct, frozen=True, rename="camel"):
    """What the coordinator redacts, and the key of its marks; ``/api/redaction`` says the same.

    :param fields: words as ``--redact`` takes them.
    :param key: in hexadecimal digits.
    """

    fields: list[str]
    key: str

    def __repr__(self) -> str:
        return f"Redaction({self.fields!r})"
