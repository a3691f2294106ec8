"""What a test writes to abort a request, and the error that the application gets.

``python -m tools.facts`` writes both tables for the npm packages, and the second for the Python
preload; ``python -m tools.page_blocks`` writes that one into the pages.
"""

from typing import NamedTuple

from trafficmock.wire.payloads.answer import AbortCode

PLAYWRIGHT_CODES: dict[str, AbortCode] = {
    "aborted": "aborted",
    "accessdenied": "failed",
    "addressunreachable": "failed",
    "blockedbyclient": "failed",
    "blockedbyresponse": "failed",
    "connectionaborted": "failed",
    "connectionclosed": "failed",
    "connectionfailed": "failed",
    "connectionrefused": "connectionrefused",
    "connectionreset": "connectionreset",
    "failed": "failed",
    "internetdisconnected": "failed",
    "namenotresolved": "namenotresolved",
    "timedout": "timedout",
}
"""Playwright's error codes, with the abort code of protocol 3 for each."""


class NetworkError(NamedTuple):
    """The error of the kernel or the resolver, as Node names it.

    :param errno: as on Linux; that of ``ENOTFOUND`` is libuv's.
    :param syscall: the call that fails.
    """

    code: str
    errno: int
    syscall: str


NETWORK_ERRORS: dict[AbortCode, NetworkError] = {
    "failed": NetworkError("ECONNRESET", -104, "read"),
    "connectionreset": NetworkError("ECONNRESET", -104, "read"),
    "aborted": NetworkError("ECONNABORTED", -103, "read"),
    "timedout": NetworkError("ETIMEDOUT", -110, "connect"),
    "connectionrefused": NetworkError("ECONNREFUSED", -111, "connect"),
    "namenotresolved": NetworkError("ENOTFOUND", -3008, "getaddrinfo"),
}
"""The error for each abort code of protocol 3."""

ABORT_CODES: dict[str, AbortCode] = {
    error.code: abort for abort, error in reversed(NETWORK_ERRORS.items())
}
"""The abort code for each code of an error."""

RESETS: frozenset[str] = frozenset({"aborted", "connectionreset"})
"""The abort codes with which a server resets the connection; with others it closes it."""
