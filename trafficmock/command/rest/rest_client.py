"""A client of the proxy's REST API, without Twisted, whose import would delay each command."""

from __future__ import annotations

import http.client
import json
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

from attrs import define, field, frozen

from trafficmock.attach.agent_variables import DEFAULT_PROXY_URL
from trafficmock.command.exit_status import REFUSED, UNREACHABLE, USAGE, CommandError
from trafficmock.connection_errors import why
from trafficmock.texts.message_text import printable, without_credentials

SECONDS = 30.0
"""How long a response may take; a search in a full history is the slowest."""

_OK, _NOT_MODIFIED, _NOT_FOUND, _CONFLICT = 200, 304, 404, 409


class UnreachableError(CommandError):
    """No server answers at the proxy's address, or one that is not a trafficmock proxy."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=UNREACHABLE)


@frozen
class RestResponse:
    """A response of the proxy.

    :param status: 200, 304, 404 or 409; other statuses raise errors.
    :param etag: the entity tag, for the next request.
    :param document: the JSON object; empty for 304.
    """

    status: int
    etag: str | None
    document: dict[str, Any] = field(repr=False)

    @property
    def found(self) -> bool:
        return self.status == _OK

    @property
    def unchanged(self) -> bool:
        """Whether it is a 304: the resource is that of the caller's entity tag."""
        return self.status == _NOT_MODIFIED


@define
class RestClient:
    """A client of one proxy, which keeps its connection open.

    :param url: the base URL of the proxy, without a slash at the end.
    :param seconds: how long a response may take.
    :param lost: how often a connection ended between two requests; the proxy may have been
        restarted.
    """

    url: str
    _secure: bool
    _place: str
    _path: str
    seconds: float = SECONDS
    lost: int = 0
    _connection: http.client.HTTPConnection | None = field(default=None, repr=False)

    @classmethod
    def at(cls, url: str) -> Self:
        """Make the client for a URL.

        :param url: such as ``http://127.0.0.1:4310``.
        :raises CommandError: if it is not an http or https URL; with status 2.
        """
        try:
            parts = urlsplit(url)
            wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
        except ValueError:
            wrong = True
        if wrong or not url.isascii() or not url.isprintable() or " " in url:
            shown = without_credentials(url)
            raise CommandError(
                f"the proxy's URL must look like {DEFAULT_PROXY_URL}, not {shown!r}", status=USAGE
            )
        place = parts.netloc.rpartition("@")[2]
        return cls(url.rstrip("/"), parts.scheme == "https", place, parts.path.rstrip("/"))

    @property
    def shown(self) -> str:
        return without_credentials(self.url)

    def get(
        self, path: str, query: dict[str, Any] | None = None, etag: str | None = None
    ) -> RestResponse:
        """Send GET for a path.

        :param query: parameters; those with ``None`` are left out, lists are repeated.
        :param etag: the entity tag of an earlier response, for ``If-None-Match``.
        :raises UnreachableError: if no server answers, or one that is not a trafficmock proxy.
        :raises CommandError: if the proxy answers with an error; with status 4.
        """
        given = {name: value for name, value in (query or {}).items() if value is not None}
        target = f"{self._path}{path}" + (f"?{urlencode(given, doseq=True)}" if given else "")
        headers = {"if-none-match": etag} if etag else {}
        try:
            status, tag, body = self._ask(target, headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            reason = printable(why(error))
            raise UnreachableError(
                f"no proxy answers at {self.shown}: {reason}. Start it with `trafficmock serve`, "
                "or say where it is with --proxy-url."
            ) from error
        if status == _NOT_MODIFIED:
            return RestResponse(status, tag, {})
        document = self._document(body)
        if status not in (_OK, _NOT_FOUND, _CONFLICT):
            said = printable(str(document.get("message") or document.get("error")))
            raise CommandError(f"the proxy answered {status}: {said}", status=REFUSED)
        return RestResponse(status, tag, document)

    def not_a_proxy_error(self) -> UnreachableError:
        """Make the error for a response that is not that of a trafficmock proxy."""
        return UnreachableError(f"what answers at {self.shown} is no trafficmock proxy")

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, target: str, headers: dict[str, str]) -> tuple[int, str | None, bytes]:
        """Send a request; if the connection ended since the last one, over a new connection."""
        fresh = self._connection is None
        try:
            return self._exchange(target, headers)
        except (ConnectionError, http.client.BadStatusLine):
            if fresh:
                raise
            self.close()
            self.lost += 1
            return self._exchange(target, headers)

    def _exchange(self, target: str, headers: dict[str, str]) -> tuple[int, str | None, bytes]:
        if self._connection is None:
            # http.client, unlike urllib, does not use the proxies of the environment.
            kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            self._connection = kind(self._place, timeout=self.seconds)
        self._connection.request("GET", target, headers=headers)
        response = self._connection.getresponse()
        return response.status, response.headers.get("etag"), response.read()

    def _document(self, body: bytes) -> dict[str, Any]:
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise self.not_a_proxy_error()
        return document


def entry_path(kind: str, entry_id: str, more: str = "") -> str:
    """Return the path of one entry.

    :param kind: ``history`` or ``ws``.
    :param entry_id: any text: applications choose ids. It is percent-encoded.
    :param more: the rest of the path, such as ``/har``.
    """
    return f"/api/{kind}/{quote(entry_id, safe='', errors='surrogatepass')}{more}"
