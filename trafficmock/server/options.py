"""The options of ``twistd -n trafficmock``, with their defaults and allowed values."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from attrs import fields_dict
from OpenSSL import SSL
from twisted.python import usage

from trafficmock.coercers import Coerce, choice, http_url, named, not_empty, number
from trafficmock.core.settings import Settings
from trafficmock.history.store import History
from trafficmock.http.hosts import parse_origin
from trafficmock.http.http_limits import HttpLimits
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.matching.host_pattern import PatternError, read_host_pattern
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.upstream.dialer import Dialer, UpstreamProxy, parse_resolve
from trafficmock.server.process.log_observers import LEVELS
from trafficmock.server.service_options import ServiceOptions
from trafficmock.server.websocket.link import WebSocketLimits
from trafficmock.texts.named_fields import OFF, InvalidFieldError, NamedFields

CAPTURES = ("all", "handled", "none")
OWNERSHIPS = ("direct", "always-ask")


OTLP_ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
)
"""The variables of OpenTelemetry that turn the export on without ``--otlp-endpoint``."""

_SETS: dict[str, tuple[tuple[type, str], ...]] = {
    "history-limit": ((History, "http_limit"),),
    "ws-history-limit": ((History, "socket_limit"),),
    "history-bytes": ((History, "byte_limit"),),
    "history-body-bytes": ((Settings, "history_body_bytes"),),
    "history-capture": ((History, "capture"),),
    "claim-timeout-ms": ((Settings, "claim_timeout"),),
    "heartbeat-ms": ((Settings, "heartbeat"),),
    "idle-timeout-ms": ((Settings, "idle_timeout"),),
    "hello-timeout-ms": ((Settings, "hello_timeout"),),
    "strict-quiet-ms": ((Settings, "strict_quiet"),),
    "body-timeout-ms": ((Settings, "body_timeout"),),
    "ownership": ((Settings, "ownership"),),
    "reply-bytes": ((Settings, "reply_bytes"),),
    "recording-bytes": ((Settings, "recording_bytes"),),
    "handler-body-bytes": ((Settings, "handler_body_bytes"),),
    "max-frame-bytes": (
        (Settings, "frame_bytes"),
        (WebSocketLimits, "max_frame_bytes"),
        (ProxySettings, "max_frame_bytes"),
    ),
    "max-header-bytes": ((HttpLimits, "max_header_bytes"), (ProxySettings, "max_header_bytes")),
    "max-connections": ((HttpLimits, "max_connections"),),
    "send-queue-bytes": ((WebSocketLimits, "send_queue_bytes"),),
    "upstream-timeout-ms": ((ProxySettings, "response_seconds"),),
    "abort-hold-ms": ((ProxySettings, "abort_hold_seconds"),),
    "connect-timeout-ms": ((Dialer, "connect_seconds"),),
}
"""The settings that have the value of an option: their class and attribute.

Times, which are seconds there, come from options whose name ends with ``-ms``.
"""


def _default(name: str) -> Any:
    """Return the default of an option, which is that of the setting that it sets."""
    owner, attribute = _SETS[name][0]
    default: Any = fields_dict(owner)[attribute].default
    return round(default * 1000) if name.endswith("-ms") else default


_PARAMETERS: list[tuple[str, Any, Coerce, str]] = [
    ("host", "127.0.0.1", not_empty, "Address to listen on."),
    ("port", 4310, number(0, 65535), "Port to listen on; 0 takes a free one."),
    ("endpoint", None, not_empty, "Twisted endpoint to listen on instead of host and port."),
    ("token", None, not_empty, "Token that clients of /ws present; or set TRAFFICMOCK_TOKEN."),
    ("ca-dir", None, not_empty, "Directory of the certificate authority; by default user data."),
    ("history-limit", ..., number(1), "HTTP requests that the history keeps."),
    ("ws-history-limit", ..., number(1), "WebSocket connections that the history keeps."),
    ("history-bytes", ..., number(0), "Bodies and frames that it keeps; 0: no limit."),
    ("history-body-bytes", ..., number(0), "Part of a streamed body it keeps; 0: no limit."),
    ("history-capture", ..., choice(*CAPTURES), "Requests that it keeps: all, handled or none."),
    ("claim-timeout-ms", ..., number(1), "Time for tests to say whether they want a request."),
    ("heartbeat-ms", ..., number(1), "Time between two pings to a client."),
    ("idle-timeout-ms", ..., number(1), "Silence after which a client is disconnected."),
    ("hello-timeout-ms", ..., number(0), "Time for a client's first message; 0: no limit."),
    (
        "strict-quiet-ms",
        ...,
        number(0),
        "How long no request must come after a strict run until it is over.",
    ),
    ("body-timeout-ms", ..., number(0), "How long a test waits for a body; 0: no limit."),
    ("ownership", ..., choice(*OWNERSHIPS), "direct: ask tests if unsure; or always-ask."),
    ("reply-bytes", ..., number(0), "Size of all fixed answers and HARs; 0: no limit."),
    ("recording-bytes", ..., number(0), "Size of all recordings of tests; 0: no limit."),
    ("local", "on", choice("on", "off"), "on: agents pass what no route can match; or off."),
    ("handler-body-bytes", ..., number(0), "Largest body that a handler gets; 0: no limit."),
    ("max-frame-bytes", ..., number(0), "Largest message of a client; 0: no limit."),
    ("max-header-bytes", ..., number(1024), "Largest head of an HTTP request."),
    ("max-connections", ..., number(0), "Open connections; 0: no limit."),
    ("send-queue-bytes", ..., number(0), "Unsent bytes that end a link; 0: no limit."),
    ("connect-timeout-ms", 10000, number(1), "How long a connection to a server may take."),
    ("upstream-timeout-ms", ..., number(0), "Time for a response to begin; 0: no limit."),
    ("abort-hold-ms", ..., number(0), "How long abort('timedout') keeps a client waiting."),
    (
        "upstream-proxy",
        None,
        UpstreamProxy.parse,
        "HTTP proxy for all servers but those on loopback: http://host:port.",
    ),
    ("otlp-endpoint", None, http_url, "OpenTelemetry collector (OTLP over HTTP) to export to."),
    ("ready-file", None, not_empty, "File for one line of JSON with url and pid."),
    ("log-level", "info", choice(*LEVELS), f"How much to log: {', '.join(LEVELS)}."),
]
"""The options with values: name, default, coercer and text; ``...`` is the setting's default."""


class ProxyOptions(ServiceOptions):
    """Options of the proxy."""

    synopsis = "[options]"
    longdesc = (
        "The proxy between the processes of an application and the tests that decide "
        "what these receive from the outside."
    )
    optParameters: ClassVar[list[list[Any]]] = [  # noqa: N815 - Twisted's
        [name, None, _default(name) if default is ... else default, text, named(name, coerce)]
        for name, default, coerce, text in _PARAMETERS
    ]
    optFlags: ClassVar[list[list[Any]]] = [  # noqa: N815 - Twisted's
        ["insecure", None, "Listen beyond loopback without a token."],
        ["strict", None, "Refuse requests that neither a route nor --allow matches."],
        ["redact-history", None, "Replace secrets in the history, too, not only in files."],
        ["open-history", None, "Answer REST requests from other machines too."],
        ["log-json", None, "Write the log as lines of JSON."],
    ]

    def __init__(self) -> None:
        super().__init__()
        for name in (
            "cors-origin",
            "own-host",
            "allow",
            "tunnel",
            "upstream-ca",
            "upstream-insecure",
            "resolve",
            "redact",
        ):
            self[name] = []

    def settings_of(self, owner: type) -> dict[str, Any]:
        """Return the arguments of a class of settings that options set, with times in seconds."""
        return {
            attribute: self[name] / 1000 if name.endswith("-ms") else self[name]
            for name, sets in _SETS.items()
            for found, attribute in sets
            if found is owner
        }

    def opt_cors_origin(self, origin: str) -> None:
        """Origin whose pages may ask the REST API, besides loopback; * for any. Repeatable."""
        self["cors-origin"].append(self.given("cors-origin", origin))
        if origin != "*" and parse_origin(origin) is None:
            raise usage.UsageError(
                f"--cors-origin must be an origin such as http://host:port, or *, not {origin!r}"
            )

    def opt_own_host(self, pattern: str) -> None:
        """Host that may get the context of a test, besides loopback; * for any text. Repeatable."""
        self._add_host_pattern("own-host", pattern)

    def opt_allow(self, pattern: str) -> None:
        """Host, URL glob or preset that needs no route under --strict. Repeatable."""
        self["allow"].append(self.given("allow", pattern))
        try:
            read_allow_list([pattern])
        except PatternError as error:
            raise usage.UsageError(f"--allow: {error}") from None

    def opt_tunnel(self, pattern: str) -> None:
        """Hosts whose TLS is passed on unread; * for any text. Repeatable."""
        self._add_host_pattern("tunnel", pattern)

    def opt_upstream_insecure(self, pattern: str) -> None:
        """Hosts whose certificates are not verified; * for any text. Repeatable."""
        self._add_host_pattern("upstream-insecure", pattern)

    def opt_upstream_ca(self, file: str) -> None:
        """PEM file of certificate authorities to trust besides the system's. Repeatable."""
        self["upstream-ca"].append(self.given("upstream-ca", file))
        try:
            SSL.Context(SSL.TLS_CLIENT_METHOD).load_verify_locations(file)
        except SSL.Error:
            raise usage.UsageError(
                f"--upstream-ca must be a readable PEM file, not {file!r}"
            ) from None

    def opt_resolve(self, entry: str) -> None:
        """Address to use for a host: HOST:PORT:ADDRESS, as in curl. Repeatable."""
        try:
            self["resolve"].append(parse_resolve(self.given("resolve", entry)))
        except ValueError as error:
            raise usage.UsageError(f"--resolve must be {error}") from None

    def opt_redact(self, field: str) -> None:
        """Further secret, as header:NAME or json:PATH; or off, to redact nothing. Repeatable."""
        self["redact"].append(self.given("redact", field))
        try:
            NamedFields.of(self["redact"])
        except InvalidFieldError as error:
            raise usage.UsageError(f"--{error}") from None

    def _add_host_pattern(self, name: str, pattern: str) -> None:
        try:
            self[name].append(read_host_pattern(self.given(name, pattern)))
        except PatternError as error:
            raise usage.UsageError(f"--{name}: {error}") from None

    def postOptions(self) -> None:  # noqa: N802 - Twisted's
        """Read ``TRAFFICMOCK_TOKEN``, check combinations, and set twistd's options.

        :raises usage.UsageError: if a value or a combination is not allowed.
        """
        if self["token"] is None and "TRAFFICMOCK_TOKEN" in os.environ:
            self["token"] = os.environ["TRAFFICMOCK_TOKEN"]
            if not self["token"]:
                raise usage.UsageError("TRAFFICMOCK_TOKEN must be not empty, or not set")
        if self["allow"] and not self["strict"]:
            raise usage.UsageError("--allow is for --strict: give both, or neither")
        if self["redact-history"] and self["redact"] == [OFF]:
            raise usage.UsageError("--redact-history redacts, and --redact off does not: give one")
        super().postOptions()
