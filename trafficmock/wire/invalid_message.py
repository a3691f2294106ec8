"""The error for a message that is not valid."""

from trafficmock.errors import PeerError

IDS = ("testId", "requestId", "fetchId", "socketId", "routeId")
"""The keys with the ids of the subject of a message."""


class InvalidMessageError(PeerError):
    """A message is not JSON, or does not have the shape of its type.

    :param message: the fault, and where it is.
    :param type: the message's ``type``, empty if it is unknown.
    :param ids: the ids that could be read from the message, by key: the coordinator answers those
        who wait for the message.
    """

    def __init__(self, message: str, *, type: str = "", ids: dict[str, str] | None = None) -> None:  # noqa: A002 - the key's name on the wire
        super().__init__(message, code="invalid_message")
        self.type = type
        self.ids = ids or {}
