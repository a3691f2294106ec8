"""Which hosts belong to the system under test: a context goes on to them, and to no others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trafficmock.http.hosts import is_loopback
from trafficmock.proxy.upstream.server_verification import matches_any

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""An IPv4 address written as one number (WHATWG URL, ends-in-a-number checker)."""


def is_under_test(host: str, globs: Sequence[str]) -> bool:
    """Tell whether a host is part of the system under test.

    Loopback, ``localhost`` and all below it, and names without a dot, as containers have them, are.

    :param host: lower case, IPv6 without its brackets.
    :param globs: further ones (``--own-host``), in which ``*`` stands for any text.
    """
    if is_loopback(host) or matches_any(host, globs):
        return True
    return "." not in host and ":" not in host and _NUMBER.fullmatch(host) is None
