"""The root resource of a site: one resource for all paths, and checks of requests."""

from __future__ import annotations

from twisted.web.resource import IResource
from zope.interface import implementer

from trafficmock.http.access import AccessPolicy
from trafficmock.http.responses import RestError, error, header
from trafficmock.http.service_request import ServiceRequest

_ONE_HOST = RestError(400, "bad_request", "HTTP/1.1 wants exactly one Host header.")


@implementer(IResource)
class CheckedRoot:
    """Responds to all requests of a site by :meth:`choose`; a raised error becomes the response."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def getChildWithDefault(self, name: bytes, request: ServiceRequest) -> IResource:  # noqa: ARG002, N802 - Twisted's signature
        """Return this resource: it handles all paths."""
        return self

    def putChild(self, path: bytes, child: IResource) -> None:  # noqa: N802 - Twisted's signature
        raise NotImplementedError("the root resource has no children")

    def render(self, request: ServiceRequest) -> bytes | int:
        """Respond to a request; the response to ``HEAD`` has no body."""
        try:
            answer = self.choose(request)
        except RestError as refused:
            answer = error(request, refused)
        return b"" if request.method == b"HEAD" and isinstance(answer, bytes) else answer

    def choose(self, request: ServiceRequest) -> bytes | int:
        """Respond to a request, as :meth:`twisted.web.resource.IResource.render` does.

        :raises RestError: to respond with an error.
        """
        raise NotImplementedError


def host_of(request: ServiceRequest) -> str | None:
    """Return the ``Host`` of a request.

    HTTP/1.1 requires exactly one (RFC 9112 section 3.2).

    :returns: ``None`` for an HTTP/1.0 request without it.
    :raises RestError: 400 for several, and for none in HTTP/1.1.
    """
    values = request.requestHeaders.getRawHeaders(b"host", [])
    if len(values) > 1 or (not values and request.clientproto == b"HTTP/1.1"):
        raise _ONE_HOST
    return header(request, "host")


def bound_host(request: ServiceRequest) -> str | None:
    """Return the local address of the connection, ``None`` for a UNIX socket."""
    return getattr(request.getHost(), "host", None)


def check_reader(policy: AccessPolicy, request: ServiceRequest) -> None:
    """Check that the peer of a request may read the history.

    :raises RestError: 403 for a peer that may not.
    """
    peer = getattr(request.getClientAddress(), "host", None)
    check(policy.history_refusal(peer, bound_host(request)))


def check(refusal: RestError | None) -> None:
    """Raise ``refusal`` unless it is ``None``."""
    if refusal is not None:
        raise refusal
