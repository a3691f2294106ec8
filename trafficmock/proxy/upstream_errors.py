"""Errors on the way to a server, and the error responses of the proxy."""

from __future__ import annotations

import errno
from collections.abc import Iterable

from attrs import frozen
from msgspec import UNSET
from OpenSSL import SSL
from service_identity import CertificateError, VerificationError
from twisted.internet import error as network

from trafficmock.errors import TrafficMockError
from trafficmock.http.responses import JSON, error_body, reason
from trafficmock.proxy.http1.forwarded_headers import VIA
from trafficmock.proxy.http1.heads import BadMessageError
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream.server_verification import WrongPinError
from trafficmock.proxy.upstream.upstream_connection import refuses_http_1_1
from trafficmock.wire.outbound import UNMATCHED
from trafficmock.wire.payloads.serialized_response import SerializedError

LOOP_DETECTED = "loop_detected"
"""The error code if a server is this service itself."""


SEALED_OFF = "sealed"
"""The error code if a sealed command may not reach a server."""


UPSTREAM_CLOSED = "upstream_closed"
"""The error code if a server closed or reset its connection."""


_ERROR_TYPES = {
    LOOP_DETECTED: b"proxy_loop_detected",
    SEALED_OFF: b"http_request_denied",
    UNMATCHED: b"http_request_denied",
    UPSTREAM_CLOSED: b"connection_terminated",
    "upstream_error": b"proxy_internal_error",
    "upstream_malformed": b"http_protocol_error",
    "upstream_proxy": b"destination_unavailable",
    "upstream_timeout": b"http_response_timeout",
    "upstream_tls": b"tls_protocol_error",
    "upstream_unreachable": b"destination_unavailable",
}
"""The proxy error types of ``Proxy-Status`` by error code (RFC 9209 section 2.3)."""

_LOCAL = b"proxy_internal_response"
"""The proxy error type of all other codes: the proxy answered by itself."""


STRICT_REASON = b"Refused by strict mode of trafficmock"
"""The reason phrase of a refusal: of a refused tunnel, most clients show nothing else."""


def decision_status(code: str) -> int:
    """Return the status of the response to a request that the coordinator made fail.

    It is 403 if strict mode refused the request, and 502 otherwise. After 403 "the client SHOULD
    NOT automatically repeat the request" (RFC 9110 section 15.5.4); many libraries repeat a request
    after 502 or any other 5xx status.

    :param code: the code of the coordinator's error.
    """
    return 403 if code == UNMATCHED else 502


class UpstreamError(TrafficMockError):
    """A request to a server failed.

    :param status: the status of the response to the client.
    :param code: the ``error`` in the body of the response.
    :param errno: the name of the error in Node, for tests and attached processes; ``None`` if there
        is none. ``route.fetch`` repeats a request after ``ECONNRESET`` only, as Playwright does.
    """

    def __init__(
        self, text: str, *, status: int = 502, code: str, errno: str | None = None
    ) -> None:
        super().__init__(text)
        self.text = text
        self.status = status
        self.code = code
        self.errno = errno

    def serialized(self) -> SerializedError:
        """Convert the error to the form of protocol 3, with the errno as its code."""
        code = UNSET if self.errno is None else self.errno
        return SerializedError("Error", self.text, code=code)


@frozen
class _Case:
    kinds: tuple[type[BaseException], ...]
    code: str
    errno: str
    what: str
    status: int = 502


_CASES = (
    _Case((network.DNSLookupError,), "upstream_unreachable", "ENOTFOUND", "its name is not known"),
    _Case(
        (network.ConnectionRefusedError,),
        "upstream_unreachable",
        "ECONNREFUSED",
        "it refused the connection",
    ),
    _Case(
        (network.TimeoutError,),
        "upstream_timeout",
        "ETIMEDOUT",
        "it did not take the connection in time (--connect-timeout-ms)",
        504,
    ),
    _Case((network.ConnectError,), "upstream_unreachable", "EHOSTUNREACH", "it cannot be reached"),
    _Case(
        (VerificationError, CertificateError, WrongPinError, SSL.Error),
        "upstream_tls",
        "ECERT",
        "TLS failed",
    ),
    _Case((BadMessageError,), "upstream_malformed", "EPROTO", "its answer is not HTTP"),
    _Case(
        (network.ConnectionLost, network.ConnectionDone, network.ConnectionAborted),
        UPSTREAM_CLOSED,
        "ECONNRESET",
        "it closed the connection",
    ),
)


def loop_detected(name: object) -> UpstreamError:
    """Make the error for a server that is this service itself (RFC 9110 section 7.6.3)."""
    text = f"{name} is this very proxy."
    return UpstreamError(text, status=508, code=LOOP_DETECTED, errno="ELOOP")


def sealed_off(name: object) -> UpstreamError:
    """Make the error for a server of this machine that a sealed command may not reach."""
    text = (
        f"{name} is a server of the proxy's machine, which a sealed command does not reach: its "
        "loopback and names without a dot are its own. Let a test mock it, or give "
        "`trafficmock run --sealed` the option --reach HOST:PORT for it."
    )
    return UpstreamError(text, status=403, code=SEALED_OFF, errno="ECONNREFUSED")


def answer_timeout(name: object) -> UpstreamError:
    """Make the error for a server that did not begin its response in time."""
    text = f"{name}: it did not answer in time (--upstream-timeout-ms)."
    return UpstreamError(text, status=504, code="upstream_timeout", errno="ETIMEDOUT")


def upstream_error(error: BaseException | None, origin: Origin | str) -> UpstreamError:
    """Convert an exception on the way to ``origin`` to an :class:`UpstreamError`."""
    if isinstance(error, UpstreamError):
        return error
    for case in _CASES:
        if isinstance(error, case.kinds):
            return UpstreamError(
                f"{origin}: {case.what}{_detail(error)}.{_remedy(error, origin)}",
                status=case.status,
                code=case.code,
                errno=_errno(error) or case.errno,
            )
    text = f"{origin}: {type(error).__name__}: {error}"
    return UpstreamError(text, code="upstream_error", errno=_errno(error))


def _errno(error: BaseException | None) -> str | None:
    """Return the name of the operating system's error in an exception; ``None`` if it has none."""
    number = error.osError if isinstance(error, network.ConnectError) else None
    if isinstance(error, OSError):
        number = error.errno
    return errno.errorcode.get(number) if isinstance(number, int) else None


def _detail(error: BaseException) -> str:
    if isinstance(error, BadMessageError):
        return f" ({error.text.rstrip('.')})"
    if isinstance(error, SSL.Error) and error.args and error.args[0]:
        reasons = [str(part[-1]) for part in error.args[0] if part]
        return f" ({'; '.join(reasons)})"
    if isinstance(error, (VerificationError, CertificateError)):
        return " (the certificate is for another host)"
    if isinstance(error, WrongPinError):
        return f" ({error})"
    return ""


def _remedy(error: BaseException, origin: Origin | str) -> str:
    """Return what to do where a server may want another client than the proxy, else nothing."""
    if refuses_http_1_1(error) and str(origin).startswith("https:"):
        return (
            " It accepts no HTTP/1.1, which the proxy speaks. While no route may match a URL of "
            "the server, TLS of clients that offer HTTP/2 reaches it; otherwise let it do so by "
            "--tunnel HOST, or in the application by TRAFFICMOCK_IGNORE_HOSTS=HOST."
        )
    text = _detail(error)
    if not isinstance(error, SSL.Error) or "alert" not in text:
        return ""
    if "certificate" not in text and "handshake failure" not in text:
        return ""
    return (
        " If it wants a certificate of the application: while no route may match a URL of the "
        "server, TLS of later connections reaches it; otherwise let it do so by --tunnel HOST, or "
        "in the application by TRAFFICMOCK_IGNORE_HOSTS=HOST."
    )


def error_response(
    status: int,
    code: str,
    message: str,
    *,
    headers: Iterable[tuple[bytes, bytes]] = (),
    keep: bool = False,
    head_only: bool = False,
) -> bytes:
    """Write an error response of the proxy, with ``via`` and ``proxy-status`` (RFC 9209).

    :param code: the ``error`` in its body, also named in ``via`` and ``proxy-status``.
    :param message: the ``message`` in its body.
    :param headers: further header lines.
    :param keep: whether the connection stays open.
    :param head_only: whether it answers HEAD, without a body.
    """
    body = error_body(code, message)
    head = (
        b"HTTP/1.1 %d %s\r\ncontent-type: %s\r\ncontent-length: %d\r\n"
        b"cache-control: no-store\r\nvia: %s (%s)\r\n"
        b'proxy-status: trafficmock; error=%s; details="%s"\r\n%s%s\r\n'
    ) % (
        status,
        STRICT_REASON if code == UNMATCHED else reason(status),
        JSON,
        len(body),
        VIA,
        code.encode("ascii"),
        _ERROR_TYPES.get(code, _LOCAL),
        code.encode("ascii"),
        b"" if keep else b"connection: close\r\n",
        b"".join(b"%s: %s\r\n" % pair for pair in headers),
    )
    return head if head_only else head + body
