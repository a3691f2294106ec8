"""Makes outside text fit to be shown: no credentials, no control characters, words for errors."""

from __future__ import annotations

import re
import socket
import ssl

_SCHEME = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//")


def without_credentials(url: str) -> str:
    """Take name and token out of what may be a URL, for a message that shows it.

    :param url: in any state; it need not be one.
    """
    secret, at, rest = url.rpartition("@")
    if not at:
        return url
    scheme = _SCHEME.match(secret)
    return f"{scheme[0] if scheme else ''}...@{rest}"


def why(error: object) -> str:
    """Say as a person would why there is no connection.

    :param error: as the operating system gave it, or a text.
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


def printable(text: str) -> str:
    """Make one line of a text, with everything escaped that does not print.

    :param text: any characters: controls, escape sequences, marks that change the direction
        of writing, lone surrogates.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
