"""Converts the proxy's report of a failed request to the error that a network would cause."""

from __future__ import annotations

import errno
import os
import socket

from trafficmock_preload.network_errors import AFTER_CONNECTING, NETWORK_ERRORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEADER = "trafficmock-failure"
"""The header of a response that reports a failure: its code, and its text percent-encoded."""

UNMATCHED = "unmatched_request "
"""The beginning of the header if strict mode refused the request."""

IS_TOLD = "trafficmock_told"
"""The attribute of errors that are made from such a header."""

_IS_AFTER = "trafficmock_after_request"
"""The attribute of errors of TLS that come after the request was sent."""

_LIBRARY = "_trafficmock_library"
"""The attribute of classes of :func:`of_library`: the library's class."""

_classes: dict[type[Exception], Any] = {}

_MALFORMED = "EPROTO"
_NOT_FOUND = "ENOTFOUND"
_NAMES = {*NETWORK_ERRORS.values(), "EHOSTUNREACH", "ELOOP"} - {_NOT_FOUND}
_ERRNO = {name: getattr(errno, name) for name in _NAMES}
"""The errors of abort codes, and further ones that the proxy met on the way to a server."""

_AFTER_CONNECTING = {errno.EPROTO, *(_ERRNO[name] for name in AFTER_CONNECTING)}


class TrafficMockError(Exception):
    """A request that the proxy refused, such as one that strict mode does not allow.

    It is not one of the errors of connections, so that libraries do not repeat the request as
    after an error of the network. An application gets a subclass that is an error of its library,
    too (:func:`of_library`). The Node agent's error has the same name. It is not the class of
    ``trafficmock.errors``, because an application need not have that package.

    :param code: an error code of the proxy, such as ``unmatched_request``.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = f"ERR_TRAFFICMOCK_{code.upper()}"
        self._given = code, text

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling, by which process pools return exceptions."""
        library = getattr(self, _LIBRARY, None)
        if library is None:
            return TrafficMockError, self._given
        return _unpickled, (library.__module__, library.__qualname__, *self._given)


def of_library(error: Exception, library: type[Exception]) -> Exception:
    """Make the error of a library for a refused request, which its users catch.

    :param library: the class of the library's errors; its first argument is a text.
    :returns: an object of both classes; other errors than :class:`TrafficMockError` as they are.
    """
    if not isinstance(error, TrafficMockError):
        return error
    both = _classes.get(library)
    if both is None:
        names = {"__module__": __name__, _LIBRARY: library}
        both = _classes[library] = type("TrafficMockError", (TrafficMockError, library), names)
    made: Exception = both(*error._given)
    setattr(made, IS_TOLD, True)
    return made


def _unpickled(module: str, name: str, code: str, text: str) -> Exception:
    from importlib import import_module
    from operator import attrgetter

    library = attrgetter(name)(import_module(module))
    return of_library(TrafficMockError(code, text), library)


def failure_error(value: str) -> Exception:
    """Make the error for a failed request.

    :param value: the value of :data:`HEADER`: ``CODE TEXT``, the text percent-encoded.
    :returns: an ``OSError`` for an error of the network, else a :class:`TrafficMockError`.
    """
    error = _error(value)
    setattr(error, IS_TOLD, True)
    return error


def _error(value: str) -> Exception:
    from urllib.parse import unquote

    code, _, coded = value.partition(" ")
    text = unquote(coded)
    name = NETWORK_ERRORS.get(code, code)
    if name == _NOT_FOUND:
        return socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    if code == "ECERT":
        return _certificate_error(text)
    if code == _MALFORMED:
        return OSError(errno.EPROTO, text or os.strerror(errno.EPROTO))
    if name in _ERRNO:
        return OSError(_ERRNO[name], os.strerror(_ERRNO[name]))
    return TrafficMockError(code, text or code)


def _certificate_error(text: str) -> OSError:
    import ssl

    if "alert" in text:
        # The server ended the connection. In TLS 1.3 it does so after the handshake, when it wants
        # a certificate of the client.
        ended: OSError = ssl.SSLError(1, text)
        setattr(ended, _IS_AFTER, "certificate required" in text)
        return ended
    if "certificate" in text:
        return ssl.SSLCertVerificationError(1, f"[SSL: CERTIFICATE_VERIFY_FAILED] {text}")
    return ssl.SSLError(1, text)


def is_malformed(error: Exception) -> bool:
    """Return whether a server answered with what is not HTTP.

    Each library has an error of its own for that, which is not one of connections: after such, some
    send a request again.
    """
    return isinstance(error, OSError) and error.errno == errno.EPROTO


def is_before_request(error: OSError) -> bool:
    """Return whether an error is one of connecting, before a request is sent."""
    return error.errno not in _AFTER_CONNECTING and not getattr(error, _IS_AFTER, False)
