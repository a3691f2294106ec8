"""Sees to which servers the clients of a test itself send its context.

The proxy of a test's browser tells the service when the browser calls an application. A client that
sends ``headers=trafficmock.headers`` does not pass it, so what it calls is seen here: by
``http.client`` (urllib and requests), httpcore (httpx), aiohttp and Twisted, when a request is
written to a server that is connected. The libraries are changed as long as a test runs that has
read its headers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from http.client import HTTPS_PORT
from importlib import import_module
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

MOST_SERVERS: Final = 20
"""The most origins that are noted for one test."""

_called: dict[str, dict[str, None]] = {}
"""The origins that were called, by the context of a running test."""

_changed: list[tuple[Any, str, Any, Any]] = []
"""The classes that are changed, with the method, the original and the one in its place."""

_lock = Lock()


def watch(context_id: str) -> None:
    """Note from now on where a context is sent."""
    with _lock:
        _called.setdefault(context_id, {})
        known = {owner for owner, *_ in _changed}
        for module_name, class_name, method, change in _changes():
            owner = getattr(sys.modules.get(module_name), class_name, None)
            if owner is not None and owner not in known:
                original = getattr(owner, method)
                replaced = change(original)
                setattr(owner, method, replaced)
                _changed.append((owner, method, original, replaced))


def take(context_id: str | None) -> list[str]:
    """Return the origins to which a context was sent, and note no further ones."""
    with _lock:
        origins = list(_called.pop(context_id or "", ()))
        if not _called:
            for owner, method, original, replaced in reversed(_changed):
                # Who has changed it since has ours as the original, which then does nothing.
                if vars(owner).get(method) is replaced:
                    setattr(owner, method, original)
            _changed.clear()
        return origins


def _changes() -> list[tuple[str, str, str, Callable[[Any], Any]]]:
    """Return the methods that write a request, and the functions that change them."""
    if "httpx" in sys.modules:
        # It imports its transport when a client is made.
        import_module("httpcore")
    return [
        ("http.client", "HTTPConnection", "send", _of_http_client),
        ("httpcore._sync.http11", "HTTP11Connection", "handle_request", _of_httpcore),
        ("httpcore._async.http11", "AsyncHTTP11Connection", "handle_async_request", _of_httpcore),
        ("aiohttp.client_reqrep", "ClientRequest", "send", _of_aiohttp),
        ("twisted.web._newclient", "HTTP11ClientProtocol", "request", _of_twisted),
    ]


def _of_http_client(original: Callable[..., Any]) -> Callable[..., Any]:
    def send(self: Any, data: Any) -> Any:
        result = original(self, data)
        if isinstance(data, bytes | bytearray):
            head = bytes(data).partition(b"\r\n\r\n")[0].decode("latin-1")
            target = head.partition(" ")[2].partition(" ")[0]
            # A request to a plain proxy has the whole URL.
            is_url = "://" in target.partition("?")[0]
            _note(target if is_url else _server_of(self), [head])
        return result

    return send


def _server_of(connection: Any) -> str:
    """Return the URL of the server of a connection of ``http.client``, also behind a tunnel."""
    scheme = "https" if connection.default_port == HTTPS_PORT else "http"
    host, port = connection._tunnel_host, connection._tunnel_port  # noqa: SLF001 - as the class has it
    if not host:
        host, port = connection.host, connection.port
    return f"{scheme}://{_bracketed(host)}:{port}"


def _of_httpcore(original: Callable[..., Any]) -> Callable[..., Any]:
    def handle_request(self: Any, request: Any) -> Any:
        url = request.url
        authority = _bracketed(url.host.decode("latin-1"))
        port = "" if url.port is None else f":{url.port}"
        values = (value.decode("latin-1") for _, value in request.headers)
        _note(f"{url.scheme.decode()}://{authority}{port}", values)
        return original(self, request)

    return handle_request


def _of_aiohttp(original: Callable[..., Any]) -> Callable[..., Any]:
    def send(self: Any, conn: Any) -> Any:
        _note(str(self.url), self.headers.values())
        return original(self, conn)

    return send


def _of_twisted(original: Callable[..., Any]) -> Callable[..., Any]:
    def request(self: Any, sent: Any) -> Any:
        headers = [value for _, values in sent.headers.getAllRawHeaders() for value in values]
        if sent.absoluteURI is not None:
            _note(sent.absoluteURI.decode("latin-1"), [each.decode("latin-1") for each in headers])
        return original(self, sent)

    return request


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _note(url: str, values: Iterable[str]) -> None:
    """Note the origin of a request whose headers have the context of a test."""
    if not _called:
        return
    text = "\n".join(values)
    for context_id, origins in list(_called.items()):
        if f"={context_id}" in text and len(origins) < MOST_SERVERS:
            parts = urlsplit(url)
            origins[f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"] = None
