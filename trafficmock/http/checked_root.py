"""The root resource of a site: one resource for all paths, and the checks before it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twisted.web.resource import IResource
from zope.interface import implementer

from trafficmock.http.responses import RestError, error, header

if TYPE_CHECKING:
    from trafficmock.http.access import AccessPolicy
    from trafficmock.http.service_request import ServiceRequest

_ONE_HOST = RestError(400, "bad_request", "HTTP/1.1 wants exactly one Host header.")


@implementer(IResource)
class CheckedRoot:
    """Answers every request of a site by :meth:`choose`; a raised error becomes the answer."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def getChildWithDefault(self, name: bytes, request: ServiceRequest) -> IResource:  # noqa: ARG002, N802 - Twisted's signature
        """Stay the only resource: paths are not walked."""
        return self

    def putChild(self, path: bytes, child: IResource) -> None:  # noqa: N802 - Twisted's signature
        raise NotImplementedError("the root resource has no children")

    def render(self, request: ServiceRequest) -> bytes | int:
        """Answer a request, without a body to ``HEAD``."""
        try:
            answer = self.choose(request)
        except RestError as refused:
            answer = error(request, refused)
        return b"" if request.method == b"HEAD" and isinstance(answer, bytes) else answer

    def choose(self, request: ServiceRequest) -> bytes | int:
        """Answer as :meth:`twisted.web.resource.IResource.render` does.

        :raises RestError: in place of an answer.
        """
        raise NotImplementedError


def host_of(request: ServiceRequest) -> str | None:
    """Give the ``Host``, of which HTTP/1.1 has exactly one (RFC 9112 section 3.2).

    :raises RestError: 400 when there are several, or none.
    """
    values = request.requestHeaders.getRawHeaders(b"host", [])
    if len(values) > 1 or (not values and request.clientproto == b"HTTP/1.1"):
        raise _ONE_HOST
    return header(request, "host")


def bound_host(request: ServiceRequest) -> str | None:
    """Give the local address of the connection; a UNIX socket has none."""
    return getattr(request.getHost(), "host", None)


def check_reader(policy: AccessPolicy, request: ServiceRequest) -> None:
    """Check that the peer may read the history.

    :raises RestError: 403 for others.
    """
    peer = getattr(request.getClientAddress(), "host", None)
    check(policy.history_refusal(peer, bound_host(request)))


def check(refusal: RestError | None) -> None:
    """Raise the refusal, if there is one."""
    if refusal is not None:
        raise refusal
