"""The option and OpenTelemetry's variables."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.telemetry.export_settings import ExportSettings, read_settings

BASE = "OTEL_EXPORTER_OTLP_"
URL = "http://collector.test:4318"
NAMES = [
    *(
        f"{BASE}{signal}{what}"
        for signal in ("", "TRACES_", "METRICS_")
        for what in ("ENDPOINT", "HEADERS", "TIMEOUT", "COMPRESSION", "PROTOCOL", "CERTIFICATE")
    ),
    *("OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_BSP_MAX_QUEUE_SIZE"),
    *("OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_SPAN_EVENT_COUNT_LIMIT"),
]


def read(option: str | None = None, **variables: str) -> ExportSettings:
    return read_settings(option, variables)


class ExportSettingsTests(SynchronousTestCase):
    """They mean what OpenTelemetry says."""

    def test_option(self) -> None:
        """The option is a base URL, with or without a slash, and has precedence."""
        for option in (URL, f"{URL}/"):
            settings = read(option, OTEL_EXPORTER_OTLP_ENDPOINT="http://other.test")
            assert settings.traces is not None
            assert settings.metrics is not None
            self.assertEqual(settings.traces.url, f"{URL}/v1/traces")
            self.assertEqual(settings.metrics.url, f"{URL}/v1/metrics")

    def test_base_variable(self) -> None:
        """The general variable is a base URL, one for a signal the whole URL."""
        settings = read(
            OTEL_EXPORTER_OTLP_ENDPOINT=f"{URL}/x/",
            OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="https://traces.test/here",
        )
        assert settings.traces is not None
        assert settings.metrics is not None
        self.assertEqual(settings.traces.url, "https://traces.test/here")
        self.assertEqual(settings.metrics.url, f"{URL}/x/v1/metrics")

    def test_one_signal(self) -> None:
        """A signal without an endpoint is not exported, nor one whose exporter is ``none``."""
        settings = read(OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=URL)
        self.assertIsNone(settings.traces)
        self.assertIsNotNone(settings.metrics)
        self.assertIsNone(read(URL, OTEL_TRACES_EXPORTER="none").traces)
        self.assertIsNotNone(read(URL, OTEL_TRACES_EXPORTER="console,otlp").traces)

    def test_disabled(self) -> None:
        """``OTEL_SDK_DISABLED`` turns all off."""
        settings = read(URL, OTEL_SDK_DISABLED="True")
        self.assertEqual((settings.traces, settings.metrics), (None, None))

    def test_protocol(self) -> None:
        """Variables that ask for gRPC, as those of an application may, export nothing."""
        settings = read(OTEL_EXPORTER_OTLP_ENDPOINT=URL, OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
        self.assertIsNone(settings.traces)
        self.assertIn("OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf", settings.warnings[0])
        self.assertEqual(len(settings.warnings), 1)
        self.assertIsNotNone(read(URL, OTEL_EXPORTER_OTLP_PROTOCOL="grpc").traces)

    def test_headers(self) -> None:
        """Headers are percent-decoded, and not in the ``repr``."""
        settings = read(URL, OTEL_EXPORTER_OTLP_HEADERS="api-key=a%20b, x = y=z ,")
        assert settings.traces is not None
        self.assertEqual(settings.traces.headers, (("api-key", "a b"), ("x", "y=z")))
        self.assertNotIn("a b", repr(settings))

    def test_numbers(self) -> None:
        """Times are in milliseconds; a batch is not larger than the queue."""
        settings = read(
            URL,
            OTEL_EXPORTER_OTLP_TRACES_TIMEOUT="250",
            OTEL_EXPORTER_OTLP_COMPRESSION="gzip",
            OTEL_BSP_SCHEDULE_DELAY="100",
            OTEL_BSP_MAX_QUEUE_SIZE="7",
            OTEL_METRIC_EXPORT_INTERVAL="2000",
            OTEL_SPAN_EVENT_COUNT_LIMIT="0",
            OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT="50",
        )
        assert settings.traces is not None
        assert settings.metrics is not None
        self.assertEqual((settings.traces.seconds, settings.metrics.seconds), (0.25, 10.0))
        self.assertTrue(settings.traces.gzip)
        self.assertEqual((settings.delay, settings.interval), (0.1, 2.0))
        self.assertEqual((settings.most_waiting, settings.batch), (7, 7))
        self.assertEqual((settings.most_events, settings.longest), (0, 50))

    def test_wrong(self) -> None:
        """An invalid variable is ignored with a warning that does not quote it."""
        settings = read(
            URL,
            OTEL_EXPORTER_OTLP_TIMEOUT="soon",
            OTEL_EXPORTER_OTLP_HEADERS="secret",
            OTEL_EXPORTER_OTLP_COMPRESSION="brotli",
            OTEL_RESOURCE_ATTRIBUTES="=x",
        )
        assert settings.traces is not None
        self.assertEqual((settings.traces.seconds, settings.traces.headers), (10.0, ()))
        self.assertEqual(len(settings.warnings), 4)
        self.assertNotIn("secret", "".join(settings.warnings))

    def test_wrong_endpoint(self) -> None:
        """An endpoint that is no URL exports nothing."""
        settings = read(OTEL_EXPORTER_OTLP_ENDPOINT="collector:4318")
        self.assertIsNone(settings.traces)
        self.assertIn("OTEL_EXPORTER_OTLP_ENDPOINT must be a URL", settings.warnings[0])

    def test_resource(self) -> None:
        """The name of the service has a default, and may be given in two ways."""
        self.assertEqual(read(URL).resource, (("service.name", "trafficmock"),))
        given = {"OTEL_RESOURCE_ATTRIBUTES": "service.name=a,ci.run=7%2C8"}
        self.assertEqual(read(URL, **given).resource, (("service.name", "a"), ("ci.run", "7,8")))
        named = read(URL, OTEL_SERVICE_NAME="b", **given).resource
        self.assertEqual(dict(named)["service.name"], "b")

    @given(st.dictionaries(st.sampled_from(NAMES), st.text()))
    def test_any_text(self, variables: dict[str, str]) -> None:
        """No value of a variable is an error."""
        read_settings(None, variables)
