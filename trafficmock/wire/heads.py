"""What can be told of a message by its beginning alone."""

import json
import re

from trafficmock.wire.codec import IDS, InvalidMessageError

_PAIR = re.compile(rb'"(%s)"\s*:\s*("(?:[^"\\]|\\.){0,200}")' % "|".join(("type", *IDS)).encode())
"""A key that we look for, and its text. Within a string the quotes would have backslashes."""


def too_long(head: bytes, limit: int) -> InvalidMessageError:
    """Make the error of a message that was not read because it is too long.

    Clients write the ids before what is large, so that whoever waits can be answered.

    :param head: the first bytes of the message.
    :param limit: bytes that it might have had.
    """
    found: dict[str, str] = {}
    for key, value in _PAIR.findall(head):
        try:
            found.setdefault(key.decode(), json.loads(value))
        except ValueError:
            continue
    kind = found.pop("type", "")
    return InvalidMessageError(
        f"this {kind or 'message'} has more than {limit} bytes; --max-frame-bytes allows more",
        type=kind,
        ids=found,
    )
