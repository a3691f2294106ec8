"""The REST API: read-only, JSON, safe to poll.

Klein finds the handler on the path as it was sent, so an id is one segment that is
decoded here. Whatever a handler raises becomes an answer in one place,
:func:`add_error_handlers`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import define, evolve
from klein import Klein
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.resource import IResource
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import RequestRedirect

from trafficmock.certificates.files import CertificateError
from trafficmock.history.har_export import har_available, har_filename, to_har
from trafficmock.history.query import Query
from trafficmock.history.rows import Rows
from trafficmock.history.store import History
from trafficmock.http.access import AccessPolicy
from trafficmock.http.checked_root import check_reader
from trafficmock.http.etags import etag, is_current, revision_of
from trafficmock.http.responses import (
    NOT_FOUND,
    WRONG_METHOD,
    RestError,
    encode,
    error,
    header,
    prepare,
    whole,
)
from trafficmock.http.service_request import ServiceRequest
from trafficmock.http.sliced_response import send_sliced
from trafficmock.server.rest.json_lists import listed, records, summaries, wrapped
from trafficmock.server.rest.path_segments import decode_segment
from trafficmock.server.rest.query_parameters import ListRequest, read_list_request, wants_tests
from trafficmock.wire import PROTOCOL_VERSION

API_PATHS = (
    "/health",
    "/api/history",
    "/api/history/<segment>",
    "/api/history/<segment>/har",
    "/api/ws",
    "/api/ws/<segment>",
    "/api/connections",
    "/ca.pem",
)
"""Every path of the API; ``<segment>`` is an id."""

PEM = (b"content-type", b"application/x-pem-file")
_PEM_FILE = (b"content-disposition", b'attachment; filename="trafficmock-ca.pem"')

_NO_HAR = RestError(409, "har_unavailable")


ConnectionsReport = Mapping[str, Any]
"""``nodeAgents`` and ``runnerWorkers``, each a list of rows; ``strict`` where the service is."""


def _plain_router() -> Klein:
    """Make a Klein app that neither mends paths nor redirects."""
    app = Klein()
    app.url_map.merge_slashes = False
    app.url_map.strict_slashes = True
    return app


@define(eq=False, kw_only=True, slots=False)
class RestApi:
    """Answers for the history, its HARs, the connections and the health of the service.

    :param history: what is shown.
    :param connections: lists who is connected, workers with their tests if asked so.
    :param ca_pem: gives the certificate of the local authority, made on first use.
    :param guard: which pages and peers may read.
    :param version: of the service, for ``/health`` and HARs.
    :param capture: the capture mode, for ``/health``.
    :param start: tells this process from others in entity tags.
    :param reactor: gives way while a long answer is made.
    """

    log = Logger()
    app = _plain_router()

    _history: History
    _connections: Callable[[bool], ConnectionsReport]
    _ca_pem: Callable[[], bytes]
    _guard: AccessPolicy
    _version: str
    _capture: str
    _start: str
    _reactor: IReactorTime

    def resource(self) -> IResource:
        """Make the resource that answers every path, with 404 where there is nothing."""
        resource: IResource = self.app.resource()
        return resource

    @app.route("/health", methods=["GET"])
    def health(self, request: ServiceRequest) -> bytes:
        """Answer ``/health``, for any peer."""
        self.share(request)
        record = {
            "ok": True,
            "version": self._version,
            "protocolVersion": PROTOCOL_VERSION,
            "historyCapture": self._capture,
        }
        return whole(request, 200, encode(record))

    @app.route("/api/connections", methods=["GET"])
    def connections(self, request: ServiceRequest) -> bytes:
        """List who is connected; dashboards of protocol 3 look for ``playwrightWorkers``."""
        self._admit(request)
        _, _, query_string = request.uri.partition(b"?")
        report = self._connections(wants_tests(query_string.decode("latin-1")))
        rows = {**report, "playwrightWorkers": report["runnerWorkers"]}
        return whole(request, 200, encode(rows))

    @app.route("/ca.pem", methods=["GET"])
    def ca_pem(self, request: ServiceRequest) -> bytes:
        """Give out the certificate that clients of the forward proxy have to trust.

        Like the service's health it is for whoever asks: it holds no traffic and no secret,
        and clients on other machines need it.
        """
        self.share(request)
        try:
            pem = self._ca_pem()
        except CertificateError as failure:
            self.log.warn("{failure}", failure=failure)
            raise RestError(500, "ca_unavailable", str(failure)) from failure
        return whole(request, 200, pem, [PEM, _PEM_FILE])

    @app.route("/api/history", methods=["GET"])
    def requests(self, request: ServiceRequest) -> bytes | Deferred[bytes]:
        return self._list(request, "entries", self._history.requests)

    @app.route("/api/history/<segment>", methods=["GET"])
    def request(self, request: ServiceRequest, segment: str) -> bytes | Deferred[bytes]:
        return self._one(request, "entry", self._history.requests, segment)

    @app.route("/api/history/<segment>/har", methods=["GET"])
    def har(self, request: ServiceRequest, segment: str) -> bytes | Deferred[bytes]:
        """Export one HTTP entry as HAR 1.2, to be kept as a file."""
        self._admit(request)
        entry = _find(self._history.requests, segment)
        if not har_available(entry):
            raise _NO_HAR
        disposition = f'attachment; filename="{har_filename(entry.id)}"'
        pretty = json.JSONEncoder(indent=2).iterencode(to_har(entry, version=self._version))
        return send_sliced(
            request,
            (part.encode("ascii") for part in pretty),
            reactor=self._reactor,
            headers=[(b"content-disposition", disposition.encode("ascii"))],
        )

    @app.route("/api/ws", methods=["GET"])
    def sockets(self, request: ServiceRequest) -> bytes | Deferred[bytes]:
        return self._list(request, "connections", self._history.sockets)

    @app.route("/api/ws/<segment>", methods=["GET"])
    def socket(self, request: ServiceRequest, segment: str) -> bytes | Deferred[bytes]:
        """Show one WebSocket connection."""
        return self._one(request, "connection", self._history.sockets, segment)

    def preflight(self, request: ServiceRequest, segment: str = "") -> bytes:  # noqa: ARG002 - also for ids that nobody has
        self.share(request)
        return whole(request, 204, b"")

    for _path in API_PATHS:
        app.route(_path, methods=["OPTIONS"])(preflight)
    del _path

    def share(self, request: ServiceRequest) -> None:
        """Set the CORS headers of an answer on an API path."""
        for name, value in self._guard.cors_headers(header(request, "origin")):
            request.setHeader(name, value)

    def _admit(self, request: ServiceRequest) -> None:
        """Check that the peer may read the history."""
        self.share(request)
        check_reader(self._guard, request)

    def _list(self, request: ServiceRequest, name: str, rows: Rows[Any]) -> bytes | Deferred[bytes]:
        self._admit(request)
        _, _, query_string = request.uri.partition(b"?")
        asked = read_list_request(query_string.decode("latin-1"))
        tag = etag(start=self._start, revision=rows.revision)
        show = summaries if asked.summary else records
        query, removed = self._changes(asked, rows)
        return self._unless_current(
            request, tag, lambda: listed(name, rows.slices(query), show, removed)
        )

    def _changes(self, asked: ListRequest, rows: Rows[Any]) -> tuple[Query, list[str] | None]:
        """Narrow a query to what changed since an earlier answer, as far as that is known.

        :returns: the query and the ids of what is gone; the whole list and ``None`` otherwise.
        """
        after = None if asked.since is None else revision_of(asked.since, self._start)
        removed = None if after is None else rows.removed_after(after)
        if after is None or removed is None:
            return asked.query, None
        return evolve(asked.query, after=after), removed

    def _one(
        self, request: ServiceRequest, name: str, rows: Rows[Any], segment: str
    ) -> bytes | Deferred[bytes]:
        self._admit(request)
        entry = _find(rows, segment)
        tag = etag(start=self._start, revision=entry.revision)
        return self._unless_current(request, tag, lambda: wrapped(name, entry))

    def _unless_current(
        self, request: ServiceRequest, tag: str, chunks: Callable[[], Iterable[bytes]]
    ) -> bytes | Deferred[bytes]:
        """Answer 304 if the client has the newest version."""
        headers = [(b"etag", tag.encode("ascii"))]
        if is_current(header(request, "if-none-match"), tag):
            prepare(request, 304, headers)
            return b""
        return send_sliced(request, chunks(), reactor=self._reactor, headers=headers)


def add_error_handlers(app: Klein) -> None:
    """Turn what handlers and the router raise into answers."""

    @app.handle_errors(RestError)
    def refused(rest: RestApi, request: ServiceRequest, failure: Any) -> bytes:  # noqa: ARG001 - Klein's signature
        return error(request, failure.value)

    @app.handle_errors(MethodNotAllowed)
    def wrong_method(rest: RestApi, request: ServiceRequest, failure: Failure) -> bytes:  # noqa: ARG001 - Klein's signature
        rest.share(request)
        return error(request, WRONG_METHOD)

    @app.handle_errors(NotFound, RequestRedirect)
    def not_found(rest: RestApi, request: ServiceRequest, failure: Failure) -> bytes:  # noqa: ARG001 - Klein's signature
        return error(request, NOT_FOUND)

    @app.handle_errors(Exception)
    def broken(rest: RestApi, request: ServiceRequest, failure: Failure) -> bytes:  # noqa: ARG001 - Klein's signature
        return request.broken(failure)


add_error_handlers(RestApi.app)


def _find(rows: Rows[Any], segment: str) -> Any:
    """Find the entry that a path names.

    :raises RestError: 404 when there is none.
    """
    entry_id = decode_segment(segment)
    entry = None if entry_id is None else rows.get(entry_id)
    if entry is None:
        raise NOT_FOUND
    return entry
