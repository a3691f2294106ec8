"""Says in words why a connection failed."""

from __future__ import annotations

import socket
import ssl


def why(error: object) -> str:
    """Describe the error of a failed connection in plain English.

    :param error: an exception, usually an :exc:`OSError`, or a text.
    """
    if isinstance(error, TimeoutError):
        return "it does not answer in time"
    if isinstance(error, socket.gaierror):
        return "there is no host of that name"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    strerror = getattr(error, "strerror", None)
    said = strerror.lower() if isinstance(strerror, str) else str(error)
    return said or type(error).__name__
