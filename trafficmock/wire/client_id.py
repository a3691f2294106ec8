"""The rule for client ids: one line of printable text, since logs and tables show them."""

import re
from typing import Annotated

from msgspec import Meta

_UNPRINTABLE = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
"""Control characters, line and paragraph separators, and lone surrogates."""

_FOUND = re.compile(f"[{_UNPRINTABLE}]")
_SHOWN = 80

ClientId = Annotated[str, Meta(pattern=rf"^[^{_UNPRINTABLE}]*\Z")]
"""A client id in a message: any text, in any script and with any spaces, but unprintable ones."""


def client_id_problem(client_id: str) -> str | None:
    """Check a client id.

    :returns: the problem, as the predicate of a sentence about the id; ``None`` for a valid id.
    """
    if _FOUND.search(client_id) is None:
        return None
    return (
        f"{client_id[:_SHOWN]!r} has a line break or another control character in it: "
        "give one line of printable text"
    )
