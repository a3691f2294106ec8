"""Where and how to export: the option ``--otlp-endpoint``, and OpenTelemetry's variables.

Both are read as OpenTelemetry specifies: a variable for one signal has precedence, an empty one
counts as absent, and an invalid one is ignored with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

from attrs import define, field, frozen

from trafficmock.coercers import http_url

TRACES, METRICS = "traces", "metrics"
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"

_PROTOCOL = "http/protobuf"
_TRUE = re.compile("true", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

MOST_WAITING = 16_384
"""The most spans that wait for their export (``OTEL_BSP_MAX_QUEUE_SIZE``)."""
BATCH = 2048
"""The spans of one request to the collector (``OTEL_BSP_MAX_EXPORT_BATCH_SIZE``)."""
MOST_EVENTS = 128
"""The most events of one span (``OTEL_SPAN_EVENT_COUNT_LIMIT``)."""


@frozen
class Destination:
    """Where the data of one signal goes.

    :param url: the whole URL.
    :param headers: of each request; they may have a key of the collector.
    :param seconds: the time of one request.
    :param gzip: whether bodies are compressed.
    :param certificate: the file with authorities to trust in place of the system's.
    :param client_certificate: the file with the certificate of this client, with ``client_key``.
    """

    url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    seconds: float = 10.0
    gzip: bool = False
    certificate: str | None = None
    client_certificate: str | None = None
    client_key: str | None = None


@frozen
class ExportSettings:
    """What is exported, and in which portions.

    :param traces: ``None`` for no spans.
    :param metrics: ``None`` for no metrics.
    :param resource: the attributes of this process.
    :param delay: the seconds after which spans are sent that do not fill a batch.
    :param interval: the seconds between two exports of metrics.
    :param longest: the most characters of a text; ``None`` for any number.
    :param warnings: what is wrong with the variables, for the log.
    """

    traces: Destination | None
    metrics: Destination | None
    resource: tuple[tuple[str, str], ...]
    delay: float = 5.0
    interval: float = 60.0
    most_waiting: int = MOST_WAITING
    batch: int = BATCH
    most_events: int = MOST_EVENTS
    longest: int | None = None
    warnings: tuple[str, ...] = ()


def read_settings(option: str | None, environ: Mapping[str, str]) -> ExportSettings:
    """Return the settings.

    :param option: the value of ``--otlp-endpoint``, a valid URL, which has precedence over the
        variables for endpoints and protocols.
    """
    variables = _Variables(environ)
    traces = variables.destination(TRACES, option)
    metrics = variables.destination(METRICS, option)
    most = variables.number("OTEL_BSP_MAX_QUEUE_SIZE", MOST_WAITING, lowest=1)
    longest = variables.number("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", -1)
    return ExportSettings(
        traces,
        metrics,
        resource=variables.resource(),
        delay=variables.number("OTEL_BSP_SCHEDULE_DELAY", 5000) / 1000,
        interval=variables.number("OTEL_METRIC_EXPORT_INTERVAL", 60_000, lowest=1) / 1000,
        most_waiting=most,
        batch=min(most, variables.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", BATCH, lowest=1)),
        most_events=variables.number("OTEL_SPAN_EVENT_COUNT_LIMIT", MOST_EVENTS),
        longest=None if longest < 0 else longest,
        warnings=tuple(variables.warnings),
    )


@define
class _Variables:
    """Reads variables, and keeps what is wrong with them."""

    environ: Mapping[str, str] = field(repr=False)
    warnings: list[str] = field(factory=list)

    def get(self, name: str) -> str:
        """Return a value, empty if there is none."""
        return self.environ.get(name, "").strip()

    def number(self, name: str, default: int, *, lowest: int = 0) -> int:
        """Return a whole number, the default if there is none."""
        value = self.get(name)
        if not value:
            return default
        if value.isascii() and value.isdigit() and lowest <= int(value) < 2**53:
            return int(value)
        self._ignored(name, f"a whole number, {lowest} or more")
        return default

    def _ignored(self, name: str, wanted: str) -> None:
        text = f"{name} must be {wanted}: it is ignored"
        if text not in self.warnings:
            self.warnings.append(text)

    def _of_signal(self, signal: str, what: str) -> tuple[str, str]:
        """Return the name and the value of a variable that may be there for a signal."""
        own, general = f"OTEL_EXPORTER_OTLP_{signal.upper()}_{what}", f"OTEL_EXPORTER_OTLP_{what}"
        return (own, self.get(own)) if self.get(own) else (general, self.get(general))

    def destination(self, signal: str, option: str | None) -> Destination | None:
        """Return where the data of a signal goes; ``None`` for nowhere."""
        wanted = self.get(f"OTEL_{signal.upper()}_EXPORTER") or "otlp"
        if _TRUE.fullmatch(self.get("OTEL_SDK_DISABLED")) or "otlp" not in wanted.split(","):
            return None
        url = self._url(signal, option)
        if url is None:
            return None
        name, milliseconds = self._of_signal(signal, "TIMEOUT")
        return Destination(
            url,
            self._headers(signal),
            self.number(name, 10_000, lowest=1) / 1000 if milliseconds else 10.0,
            self._is_compressed(signal),
            self._of_signal(signal, "CERTIFICATE")[1] or None,
            self._of_signal(signal, "CLIENT_CERTIFICATE")[1] or None,
            self._of_signal(signal, "CLIENT_KEY")[1] or None,
        )

    def _url(self, signal: str, option: str | None) -> str | None:
        if option:
            return f"{option.rstrip('/')}/v1/{signal}"
        protocol_name, protocol = self._of_signal(signal, "PROTOCOL")
        name, url = self._of_signal(signal, "ENDPOINT")
        if not url:
            return None
        try:
            http_url(url)
        except ValueError as error:
            self._ignored(name, str(error))
            return None
        if protocol and protocol != _PROTOCOL:
            self._ignored(
                protocol_name, f"{_PROTOCOL}, the only protocol here, or --otlp-endpoint be given"
            )
            return None
        return f"{url.rstrip('/')}/v1/{signal}" if name == _ENDPOINT else url

    def _headers(self, signal: str) -> tuple[tuple[str, str], ...]:
        """Return the headers: ``name=value,name=value``, percent-encoded as in baggage."""
        name, text = self._of_signal(signal, "HEADERS")
        headers = []
        for part in filter(None, (part.strip() for part in text.split(","))):
            key, equals, value = part.partition("=")
            key, value = unquote(key.strip()), unquote(value.strip())
            if not equals or not _HEADER_NAME.fullmatch(key) or not _is_header_value(value):
                self._ignored(name, "a list such as api-key=abc,other=def")
                return ()
            headers.append((key, value))
        return tuple(headers)

    def _is_compressed(self, signal: str) -> bool:
        name, text = self._of_signal(signal, "COMPRESSION")
        if text not in ("", "none", "gzip"):
            self._ignored(name, "gzip or none")
        return text == "gzip"

    def resource(self) -> tuple[tuple[str, str], ...]:
        """Return the attributes of ``OTEL_RESOURCE_ATTRIBUTES`` and the name of the service."""
        found = {"service.name": "trafficmock"}
        text = self.get("OTEL_RESOURCE_ATTRIBUTES")
        for part in filter(None, (part.strip() for part in text.split(","))):
            key, equals, value = part.partition("=")
            if not equals or not key.strip():
                self._ignored("OTEL_RESOURCE_ATTRIBUTES", "a list such as a=b,c=d")
                break
            found[unquote(key.strip())] = unquote(value.strip())
        if name := self.get("OTEL_SERVICE_NAME"):
            found["service.name"] = name
        return tuple(found.items())


def _is_header_value(text: str) -> bool:
    return text.isascii() and text.isprintable()
