"""The REST API: read-only JSON, with entity tags for polling.

Klein matches the path before it is decoded, so an id is one segment, which is decoded here.
:func:`add_error_handlers` converts all exceptions of handlers to responses.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import define, evolve, field
from klein import Klein
from twisted.internet.defer import Deferred, maybeDeferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.resource import IResource
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import RequestRedirect

from trafficmock.certificates.files import CertificateError
from trafficmock.history import rest_records
from trafficmock.history.har.har_export import har_available, har_filename, to_har
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
from trafficmock.redaction import marks
from trafficmock.redaction.redacted_documents import redacted_har, redacted_record
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.rest.json_lists import listed, records, summaries, wrapped
from trafficmock.server.rest.path_segments import decode_segment
from trafficmock.server.rest.query_parameters import (
    ListRequest,
    added_redactor,
    read_list_request,
    wants_failed,
    wants_tests,
)
from trafficmock.wire import PROTOCOL_VERSION

API_PATHS = (
    "/health",
    "/api/history",
    "/api/history/<segment>",
    "/api/history/<segment>/har",
    "/api/ws",
    "/api/ws/<segment>",
    "/api/connections",
    "/api/summary",
    "/api/redaction",
    "/ca.pem",
)
"""All paths of the API; ``<segment>`` is an id."""

PEM = (b"content-type", b"application/x-pem-file")
_PEM_FILE = (b"content-disposition", b'attachment; filename="trafficmock-ca.pem"')

_NO_HAR = RestError(409, "har_unavailable")


ConnectionsReport = Mapping[str, Any]
"""The body of ``/api/connections`` without ``playwrightWorkers``: see ``connections_report``."""


def _plain_router() -> Klein:
    """Make a Klein app that neither corrects paths nor redirects."""
    app = Klein()
    app.url_map.merge_slashes = False
    app.url_map.strict_slashes = True
    return app


@define(eq=False, kw_only=True, slots=False)
class RestApi:
    """The handlers of the REST API.

    :param history: the entries.
    :param connections: returns the connections; with ``True``, the tests of workers, too.
    :param ca_pem: returns the certificate of the local authority in PEM, made at the first call.
    :param guard: decides which origins and peers may read.
    :param version: the version of the service, for ``/health`` and HARs.
    :param capture: the capture mode, for ``/health``.
    :param strict: whether the service is strict, for ``/health``.
    :param start: identifies this process in entity tags.
    :param reactor: schedules the slices of a long response.
    :param redactor: replaces the secrets in HARs, and in entries whose client asks for it.
    :param apart: runs a function that may take long, for example in a thread.
    """

    log = Logger()
    app = _plain_router()

    _history: History
    _connections: Callable[[bool], ConnectionsReport]
    _ca_pem: Callable[[], bytes]
    _guard: AccessPolicy
    _version: str
    _capture: str
    _strict: bool
    _start: str
    _reactor: IReactorTime
    _redactor: Redactor = field(factory=Redactor)
    _apart: Callable[..., Deferred[Any]] = maybeDeferred

    def resource(self) -> IResource:
        """Make the resource that answers all paths; unknown ones with 404."""
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
        if self._strict:
            record["strict"] = True
        return whole(request, 200, encode(record))

    @app.route("/api/connections", methods=["GET"])
    def connections(self, request: ServiceRequest) -> bytes:
        """List the connections; dashboards of protocol 3 read ``playwrightWorkers``."""
        self._admit(request)
        report = self._connections(wants_tests(_query_string(request)))
        rows = {**report, "playwrightWorkers": report["runnerWorkers"]}
        return whole(request, 200, encode(rows))

    @app.route("/api/summary", methods=["GET"])
    def summary(self, request: ServiceRequest) -> bytes:
        """Send the counts since the start of the service."""
        self._admit(request)
        return whole(request, 200, rest_records.encode(self._history.summary()))

    @app.route("/api/redaction", methods=["GET"])
    def redaction(self, request: ServiceRequest) -> bytes:
        """Say what is redacted, and by which key, so that marks of several programs are equal."""
        self._admit(request)
        return whole(request, 200, encode(self._redactor.described()))

    @app.route("/ca.pem", methods=["GET"])
    def ca_pem(self, request: ServiceRequest) -> bytes:
        """Send the certificate that clients of the forward proxy have to trust, to any peer.

        It is not secret, and clients on other machines need it.
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
        """Send one HTTP entry as HAR 1.2, for download as a file."""
        self._admit(request)
        entry = _find(self._history.requests, segment)
        query_string = _query_string(request)
        if not (har_available(entry) or wants_failed(query_string)):
            raise _NO_HAR
        redactor = added_redactor(query_string, self._redactor) or self._redactor
        disposition = f'attachment; filename="{har_filename(entry.id)}"'
        har = to_har(entry, version=self._version)

        def send(document: object) -> Deferred[bytes]:
            pretty = json.JSONEncoder(indent=2).iterencode(document)
            return send_sliced(
                request,
                (part.encode("ascii") for part in pretty),
                reactor=self._reactor,
                headers=[(b"content-disposition", disposition.encode("ascii"))],
            )

        if redactor.is_off:
            return send(har)
        return self._apart(redacted_har, har, redactor).addCallback(send)

    @app.route("/api/ws", methods=["GET"])
    def sockets(self, request: ServiceRequest) -> bytes | Deferred[bytes]:
        return self._list(request, "connections", self._history.sockets)

    @app.route("/api/ws/<segment>", methods=["GET"])
    def socket(self, request: ServiceRequest, segment: str) -> bytes | Deferred[bytes]:
        """Send one WebSocket connection."""
        return self._one(request, "connection", self._history.sockets, segment)

    def preflight(self, request: ServiceRequest, segment: str = "") -> bytes:  # noqa: ARG002 - also for ids that nobody has
        self.share(request)
        return whole(request, 204, b"")

    for _path in API_PATHS:
        app.route(_path, methods=["OPTIONS"])(preflight)
    del _path

    def share(self, request: ServiceRequest) -> None:
        """Set the CORS headers of a response."""
        for name, value in self._guard.cors_headers(header(request, "origin")):
            request.setHeader(name, value)

    def _admit(self, request: ServiceRequest) -> None:
        """Set the CORS headers, and check that the peer may read the history.

        :raises RestError: if it may not.
        """
        self.share(request)
        check_reader(self._guard, request)

    def _list(self, request: ServiceRequest, name: str, rows: Rows[Any]) -> bytes | Deferred[bytes]:
        self._admit(request)
        asked = read_list_request(_query_string(request))
        tag = etag(start=self._start, revision=rows.revision)
        show = summaries if asked.summary else records
        query, removed = self._changes(asked, rows)
        return self._unless_current(
            request, tag, lambda: listed(name, rows.slices(query), show, removed, rows.dropped)
        )

    def _changes(self, asked: ListRequest, rows: Rows[Any]) -> tuple[Query, list[str] | None]:
        """Restrict a query to changes since an earlier response, if that response is known.

        :returns: the query, and the ids of entries that are gone; ``None`` for the whole list.
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
        redactor = added_redactor(_query_string(request), self._redactor)
        if redactor is not None and not redactor.is_off:
            return self._redacted(request, name, entry, redactor)
        tag = etag(start=self._start, revision=entry.revision)
        return self._unless_current(request, tag, lambda: wrapped(name, entry))

    def _redacted(
        self, request: ServiceRequest, name: str, entry: Any, redactor: Redactor
    ) -> Deferred[bytes]:
        """Send an entry with marks for its secrets, or 304."""
        asked = marks.digest(repr(redactor.described()["fields"]), self._redactor.key)
        tag = etag(start=f"{self._start}-{asked}", revision=entry.revision)
        headers = [(b"etag", tag.encode("ascii"))]
        if is_current(header(request, "if-none-match"), tag):
            prepare(request, 304, headers)
            return succeed(b"")
        written = b"".join(wrapped(name, entry))
        made = self._apart(lambda: encode(redacted_record(json.loads(written), redactor)))
        return made.addCallback(lambda content: whole(request, 200, content, headers))

    def _unless_current(
        self, request: ServiceRequest, tag: str, chunks: Callable[[], Iterable[bytes]]
    ) -> bytes | Deferred[bytes]:
        """Answer 304 if the client has the newest version, else send the chunks."""
        headers = [(b"etag", tag.encode("ascii"))]
        if is_current(header(request, "if-none-match"), tag):
            prepare(request, 304, headers)
            return b""
        return send_sliced(request, chunks(), reactor=self._reactor, headers=headers)


def add_error_handlers(app: Klein) -> None:
    """Convert exceptions of handlers and of the router to responses."""

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


def _query_string(request: ServiceRequest) -> str:
    return request.uri.partition(b"?")[2].decode("latin-1")


def _find(rows: Rows[Any], segment: str) -> Any:
    """Return the entry with an id.

    :param segment: the id as in the path, percent-encoded.
    :raises RestError: 404 if there is none.
    """
    entry_id = decode_segment(segment)
    entry = None if entry_id is None else rows.get(entry_id)
    if entry is None:
        raise NOT_FOUND
    return entry
