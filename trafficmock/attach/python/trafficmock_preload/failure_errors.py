"""Turns the proxy's report of a failed request into the error that a network would cause."""

from __future__ import annotations

import errno
import os
import socket

HEADER = "trafficmock-failure"
"""Of an answer that stands for a failure: its code, and its text percent-encoded."""

UNMATCHED = "unmatched_request "
"""What the header begins with where strict mode refused the request."""

IS_TOLD = "trafficmock_told"
"""An attribute of the errors that are made of such a header."""

_ERRNO = {
    "failed": errno.ECONNRESET,
    "aborted": errno.ECONNABORTED,
    "connectionreset": errno.ECONNRESET,
    "connectionrefused": errno.ECONNREFUSED,
    "ECONNRESET": errno.ECONNRESET,
    "ECONNREFUSED": errno.ECONNREFUSED,
    "EHOSTUNREACH": errno.EHOSTUNREACH,
    "ELOOP": errno.ELOOP,
    "EPROTO": errno.EPROTO,
}
"""Codes of aborts (protocol 3), and the names of errors that servers failed with."""

_TIMEOUTS = frozenset({"timedout", "ETIMEDOUT"})
_NAMES = frozenset({"namenotresolved", "ENOTFOUND"})
_AFTER_CONNECTING = frozenset({errno.ECONNRESET, errno.ECONNABORTED, errno.EPROTO})


class TrafficMockError(Exception):
    """A request that the proxy refused, such as one that strict mode does not allow.

    No network says this, so that nothing repeats the request as after an error of a network.
    Applications see the name that the Node agent's error has. It is not the class of
    ``trafficmock.errors``, which the environment of an application need not have.

    :param code: a code of the proxy, ``unmatched_request``.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = f"ERR_TRAFFICMOCK_{code.upper()}"
        self._given = code, text

    def __reduce__(self) -> tuple[type[TrafficMockError], tuple[str, str]]:
        """Let pools of processes hand it on."""
        return type(self), self._given


def failure_error(value: str) -> Exception:
    """Read the header of a failed request.

    :param value: ``CODE TEXT``, the text percent-encoded.
    :returns: an ``OSError`` for what a network does, else a :class:`TrafficMockError`.
    """
    error = _error(value)
    setattr(error, IS_TOLD, True)
    return error


def _error(value: str) -> Exception:
    from urllib.parse import unquote

    code, _, coded = value.partition(" ")
    text = unquote(coded)
    if code in _TIMEOUTS:
        return TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
    if code in _NAMES:
        return socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    if code == "ECERT":
        return _certificate_error(text)
    if code in _ERRNO:
        return OSError(_ERRNO[code], os.strerror(_ERRNO[code]))
    return TrafficMockError(code, text or code)


def _certificate_error(text: str) -> OSError:
    import ssl

    if "certificate" in text:
        return ssl.SSLCertVerificationError(1, f"[SSL: CERTIFICATE_VERIFY_FAILED] {text}")
    return ssl.SSLError(1, text)


def is_before_request(error: OSError) -> bool:
    """Tell whether a network makes such an error before it takes the request."""
    return error.errno not in _AFTER_CONNECTING
