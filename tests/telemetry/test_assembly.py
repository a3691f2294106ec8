"""The export of a real service: what comes to a collector, and what is imported without one."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import free_port, running_proxy
from tests.support.self_signed import write_certificate
from tests.telemetry.collector import collector
from tests.telemetry.messages import attributes
from trafficmock.telemetry.assembly import make_exporter
from trafficmock.testing import sync

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

_IMPORTED = """
import json, sys
from trafficmock.server.options import ProxyOptions
from trafficmock.tap import makeService
options = ProxyOptions()
options.parseOptions(["--port", "0", *sys.argv[1:]])
makeService(options)
print(json.dumps([name for name in sys.modules if "telemetry" in name]))
"""


def ask(proxy: str, url: str, **headers: str) -> bytes:
    """Send a request through the forward proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - loopback, or mocked
    with opener.open(request, timeout=30) as response:
        body: bytes = response.read()
        return body


class DisabledTests(SynchronousTestCase):
    """Variables may turn off what others turn on."""

    def test_disabled(self) -> None:
        """There is no exporter, and no timer."""
        clock = Clock()
        made = make_exporter(
            "http://127.0.0.1:9",
            {"OTEL_SDK_DISABLED": "true"},
            version="1",
            new_id=bytes,
            now=lambda: 0,
            redact_urls=list,
            redact_text=str,
            decisions=list,
            reactor=clock,
        )
        self.assertIsNone(made)
        self.assertEqual(clock.getDelayedCalls(), [])


class ImportTests(SynchronousTestCase):
    """The export costs nothing where it is off."""

    def imported(self, *options: str, **variables: str) -> list[str]:
        command = [sys.executable, "-c", _IMPORTED, *options]
        done = subprocess.run(command, check=True, capture_output=True, env=variables, timeout=60)
        found: list[str] = json.loads(done.stdout)
        return found

    def test_off(self) -> None:
        """Without the option and the variables nothing of it is imported."""
        self.assertEqual(self.imported(), [])

    def test_on(self) -> None:
        """The option, or a variable, imports ours, and nothing of OpenTelemetry's."""
        url = "http://127.0.0.1:9"
        for found in (
            self.imported("--otlp-endpoint", url),
            self.imported(OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=url),
        ):
            self.assertIn("trafficmock.telemetry.exporter", found)
            self.assertEqual([name for name in found if not name.startswith("trafficmock.")], [])


class ServiceTests(SynchronousTestCase):
    """A service, its forward proxy, a test, and a collector."""

    def test_spans_and_metrics(self) -> None:
        """Requests and their test arrive when the service stops, and the metrics."""
        with collector() as received:
            with running_proxy("--otlp-endpoint", received.url) as proxy:
                with sync.mocks(proxy.url, title="pays", file="tests/test_pay.py") as mocks:
                    mocks.mock("http://pay.test/**", json={"ok": True})
                    ask(proxy.url, "http://pay.test/charge", traceparent=f"00-{TRACE}-{SPAN}-01")
                ask(proxy.url, f"{received.url}/plain?api_key=hidden-1234")
            spans = {span.name: span for span in received.spans if span.kind == 1}
            test = spans["pays"]
            mocked, plain = (span for span in received.spans if span.kind == 3)
        found = attributes(mocked.attributes)
        self.assertEqual((mocked.trace_id.hex(), mocked.parent_span_id.hex()), (TRACE, SPAN))
        self.assertEqual(found["trafficmock.decision"], "fulfill")
        self.assertEqual(found["test.suite.name"], "tests/test_pay.py")
        self.assertEqual(found["url.full"], "http://pay.test/charge")
        self.assertLessEqual(mocked.start_time_unix_nano, mocked.end_time_unix_nano)
        found = attributes(plain.attributes)
        self.assertEqual(found["http.response.status_code"], 200)
        self.assertNotIn("hidden", found["url.full"])
        self.assertIn(f"exports to {received.url}/v1/traces", proxy.last_words)
        self.assertEqual(attributes(test.attributes)["test.case.result.status"], "pass")
        self.assertLessEqual(test.start_time_unix_nano, mocked.start_time_unix_nano)
        counts = {
            tuple(attributes(point.attributes).values()): point.as_int
            for point in received.metrics["trafficmock.requests"].sum.data_points
        }
        self.assertEqual(counts, {("fulfill", "pay.test"): 1, ("passthrough", "localhost"): 1})
        for name in ("trafficmock.connections", "trafficmock.history.evictions"):
            self.assertIn(name, received.metrics)

    def test_variables(self) -> None:
        """OpenTelemetry's variables alone: TLS with an authority, gzip, a header, a name."""
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        pem = write_certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        with collector(context) as received, collector() as server:
            variables = {
                "OTEL_EXPORTER_OTLP_ENDPOINT": received.url,
                "OTEL_EXPORTER_OTLP_CERTIFICATE": str(pem),
                "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
                "OTEL_EXPORTER_OTLP_HEADERS": "api-key=k",
                "OTEL_METRICS_EXPORTER": "none",
                "OTEL_BSP_SCHEDULE_DELAY": "0",
            }
            with running_proxy(env=variables) as proxy:
                ask(proxy.url, f"{server.url}/plain")
            self.assertEqual(len(received.spans), 1, proxy.last_words)
            self.assertEqual(received.headers["Api-Key"], "k")
            self.assertEqual(received.metrics, {})

    def test_away(self) -> None:
        """A collector that is away is said once, delays nothing, and the loss is counted."""
        with collector() as server:
            url = f"http://127.0.0.1:{free_port()}"
            with running_proxy(
                "--otlp-endpoint", url, env={"OTEL_BSP_SCHEDULE_DELAY": "0"}
            ) as proxy:
                for _ in range(3):
                    ask(proxy.url, f"{server.url}/plain")
            words: Any = proxy.last_words
        self.assertEqual(words.count(f"OTLP: cannot export to {url}/v1/traces"), 1, words)
        self.assertIn(f"OTLP: 3 spans were not exported to {url}/v1/traces", words)
        self.assertNotIn("Traceback", words)

    def test_wrong_file(self) -> None:
        """A certificate that cannot be read leaves the service without an export, and says so."""
        variables = {"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere.pem"}
        with running_proxy("--otlp-endpoint", "https://127.0.0.1:9", env=variables) as proxy:
            self.assertIn("OTLP: nothing is exported: cannot read", proxy.written())
