"""The error for a message that is not valid, also for one that is too long to be decoded."""

import json
import re

from trafficmock.errors import PeerError

IDS = ("testId", "requestId", "fetchId", "socketId", "routeId")
"""The keys with the ids of the subject of a message."""

HEAD_BYTES = 4096
"""The length of the beginning, which has the ids: clients write them before large values."""

_PAIR = re.compile(rb'"(%s)"\s*:\s*("(?:[^"\\]|\\.){0,200}")' % "|".join(("type", *IDS)).encode())
"""A key of interest and its text. Within a JSON string, these quotes would have backslashes."""


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


def named_in(head: bytes) -> tuple[str, dict[str, str]]:
    """Read the type and the ids from the beginning of a message.

    :param head: the first bytes of the message, see :data:`HEAD_BYTES`.
    :returns: the ``type``, empty if it is not there, and the ids by their keys.
    """
    found: dict[str, str] = {}
    for key, value in _PAIR.findall(head):
        try:
            found.setdefault(key.decode(), json.loads(value))
        except ValueError:
            continue
    return found.pop("type", ""), found


def too_long(head: bytes, limit: int, *, unauthenticated: bool = False) -> InvalidMessageError:
    """Make the error for a message that is too long to be decoded.

    :param head: the first bytes of the message.
    :param limit: the most bytes that were allowed.
    :param unauthenticated: whether the message came before ``hello`` was accepted.
    """
    kind, ids = named_in(head)
    remedy = "say a shorter hello first" if unauthenticated else "--max-frame-bytes allows more"
    text = f"this {kind or 'message'} has more than {limit} bytes; {remedy}"
    return InvalidMessageError(text, type=kind, ids=ids)
