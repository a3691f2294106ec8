"""A message that cannot be read: what is wrong with it, and the ids in it."""

from trafficmock.errors import PeerError

IDS = ("testId", "requestId", "fetchId", "socketId", "routeId")
"""The keys that say what a message is about."""


class InvalidMessageError(PeerError):
    """A message that is not JSON, or does not have the shape of its type.

    :param message: what is wrong, and where.
    :param type: the message's ``type`` where it is known, else empty.
    :param ids: the ids in the message that are known, so that whoever waits for it can be
        answered.
    """

    def __init__(self, message: str, *, type: str = "", ids: dict[str, str] | None = None) -> None:  # noqa: A002 - the key's name on the wire
        super().__init__(message, code="invalid_message")
        self.type = type
        self.ids = ids or {}
