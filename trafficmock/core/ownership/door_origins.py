"""Checks the globs of a door's origins: a glob that no origin can match is an error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_GLOB = re.compile(
    r"\*|(?P<scheme>https?|http\*|\*)://"
    r"(?P<host>\[[0-9a-f:.*?]+\]|[a-z0-9._*?-]+)(?P<port>:[0-9*?]+)?",
    re.IGNORECASE,
)
_DEFAULT_PORTS = {("http", ":80"), ("https", ":443")}
_HIGHEST_PORT = 65535


def unmatchable(globs: Iterable[str]) -> str | None:
    """Return the first glob that no origin can match, ``None`` for none.

    An origin is a scheme, a host in lower case as in URLs (IDNA, IPv6 in
    brackets), and a port, which is omitted if it is the default of the scheme.

    :param globs: ``*`` is any text and ``?`` any character, as for
        :class:`~trafficmock.proxy.door.context_stamp.ContextStamp`.
    """
    return next((glob for glob in globs if not _is_matchable(glob)), None)


def _is_matchable(glob: str) -> bool:
    found = _GLOB.fullmatch(glob)
    if found is None:
        return False
    scheme, port = (found["scheme"] or "").lower(), found["port"] or ""
    if not port[1:].isdigit():
        return True
    is_written_so = not port.startswith(":0") and len(port) <= len(f":{_HIGHEST_PORT}")
    return is_written_so and int(port[1:]) <= _HIGHEST_PORT and (scheme, port) not in _DEFAULT_PORTS
