"""Type and ids of a message of which only the beginning is there."""

import json
import re

from trafficmock.wire.invalid_message import IDS, InvalidMessageError

HEAD_BYTES = 4096
"""How much of a message is a beginning; it holds the ids of whoever waits for it."""

_PAIR = re.compile(rb'"(%s)"\s*:\s*("(?:[^"\\]|\\.){0,200}")' % "|".join(("type", *IDS)).encode())
"""A key that is looked for, and its text. Within a string the quotes would have backslashes."""


def told_by(head: bytes) -> tuple[str, dict[str, str]]:
    """Find the type and the ids of a message.

    Clients write the ids before what is large, so that whoever waits can be answered.

    :param head: the first bytes of the message.
    :returns: the ``type``, empty when it is unknown, and the ids by their keys.
    """
    found: dict[str, str] = {}
    for key, value in _PAIR.findall(head):
        try:
            found.setdefault(key.decode(), json.loads(value))
        except ValueError:
            continue
    return found.pop("type", ""), found


def too_long(head: bytes, limit: int, *, unauthenticated: bool = False) -> InvalidMessageError:
    """Make the error of a message that was not read because it is too long.

    :param head: the first bytes of the message.
    :param limit: bytes that it might have had.
    :param unauthenticated: whether it came before ``hello`` was answered.
    """
    kind, ids = told_by(head)
    remedy = "say a shorter hello first" if unauthenticated else "--max-frame-bytes allows more"
    text = f"this {kind or 'message'} has more than {limit} bytes; {remedy}"
    return InvalidMessageError(text, type=kind, ids=ids)
