"""What the name of a client may be: one line of text, since people read it in logs and tables."""

import re
from typing import Annotated

from msgspec import Meta

_UNPRINTABLE = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
"""Control characters, separators of lines and paragraphs, and halves of surrogate pairs."""

_FOUND = re.compile(f"[{_UNPRINTABLE}]")
_SHOWN = 80

ClientId = Annotated[str, Meta(pattern=rf"^[^{_UNPRINTABLE}]*\Z")]
"""A client id in a message. All other text is allowed, in any script and with any spaces."""


def client_id_problem(client_id: str) -> str | None:
    """Say why a text is no client id.

    :returns: what follows the words "the client id"; ``None`` when it is one.
    """
    if _FOUND.search(client_id) is None:
        return None
    return (
        f"{client_id[:_SHOWN]!r} has a line break or another control character in it: "
        "give one line of printable text"
    )
