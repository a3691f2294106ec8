"""Real receivers of OTLP, and traces that join those of an instrumented application."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.child_process import Child
from tests.support.processes.proxy_process import REPOSITORY, free_port, get, running_proxy
from tests.support.waiting import wait_until
from tests.telemetry.collector import collector
from tests.telemetry.messages import attributes
from trafficmock.testing import sync

INSTALL_SECONDS = 500
SERVER = 2
"""The kind of the span of a request that was served."""

EXPRESS = """
const express = require("express");
const http = require("node:http");
const url = "http://pay.test/charge";
const text = async (stream) => {
  let all = "";
  for await (const part of stream) all += part;
  return all;
};
const app = express();
app.get("/page", async (request, response) => {
  const first = await new Promise((resolve, reject) => http.get(url, resolve).on("error", reject));
  response.send((await text(first)) + (await (await fetch(url)).text()));
});
const server = app.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ port: server.address().port }));
});
"""
"""An application that asks by ``http`` and by ``fetch``."""

INSTRUMENT = "from opentelemetry.instrumentation.auto_instrumentation import run; run()"


class DeepCase(SynchronousTestCase):
    """A directory with what is installed for these tests."""

    if not os.environ.get("TRAFFICMOCK_DEEP"):
        skip = "only with TRAFFICMOCK_DEEP=1"

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="trafficmock-otlp-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def install(self, *packages: str) -> Path:
        """Install npm packages; return their directory."""
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(self.folder)]
        self.run_quietly([*command, *packages])
        return self.folder / "node_modules"

    def run_quietly(self, command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, check=False, timeout=INSTALL_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def start(self, name: str, argv: list[str], **more: Any) -> Child:
        child = Child.start(name, argv, **more)
        self.addCleanup(child.stop)
        return child

    def traffic(self, url: str) -> None:
        """Export a mocked request of a test, and an aborted one."""
        with running_proxy("--otlp-endpoint", url) as proxy:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy.url}))
            with sync.mocks(proxy.url, title="pays", file="tests/test_pay.py") as mocks:
                mocks.mock("http://pay.test/**", json={"ok": True})
                with opener.open("http://pay.test/charge?token=hidden-1234", timeout=30) as answer:
                    answer.read()


class ReceiverTests(DeepCase):
    """Two receivers that are not ours."""

    def test_ddapm(self) -> None:
        """The test agent of Datadog reads the spans."""
        self.run_quietly([sys.executable, "-m", "venv", str(self.folder / "dd")])
        programs = self.folder / "dd" / "bin"
        self.run_quietly([str(programs / "pip"), "install", "--quiet", "ddapm-test-agent"])
        apm, http, grpc = (free_port() for _ in range(3))
        ports = ["--port", apm, "--otlp-http-port", http, "--otlp-grpc-port", grpc]
        command = [str(programs / "ddapm-test-agent"), *map(str, ports)]
        self.start("ddapm-test-agent", command, env={}, announces=False)
        url = f"http://127.0.0.1:{http}"
        wait_until(lambda: _answers(f"{url}/test/session/traces"), "the receiver")
        self.traffic(url)
        with urllib.request.urlopen(f"{url}/test/session/traces", timeout=30) as answer:  # noqa: S310 - loopback
            text = answer.read().decode()
        for part in ("http://pay.test/charge?token=", "test.case.name", "pays", "trafficmock"):
            self.assertIn(part, text)
        self.assertNotIn("hidden", text)

    def test_elastic(self) -> None:
        """The mock server of Elastic, on its fixed port, prints spans and metrics."""
        modules = self.install("@elastic/mockotlpserver")
        program = str(modules / ".bin" / "mockotlpserver")
        output = self.folder / "elastic.out"
        with (
            output.open("wb") as written,
            subprocess.Popen(
                [program, "--hostname", "127.0.0.1", "-o", "json"], stdout=written, stderr=written
            ) as server,
        ):
            self.addCleanup(server.kill)
            wait_until(lambda: _answers("http://127.0.0.1:4318/"), "the receiver")
            self.traffic("http://127.0.0.1:4318")
            wait_until(lambda: b"trafficmock.requests" in output.read_bytes(), "the metrics")
            server.terminate()
        text = output.read_text()
        for part in ('"test.case.name"', '"pays"', "http.response.status_code", "fulfill"):
            self.assertIn(part, text)
        self.assertNotIn("hidden", text)


class JoinedTests(DeepCase):
    """The span of a request is a child of the span of the application that sent it."""

    def test_flask(self) -> None:
        """Flask under ``opentelemetry-instrument``, whose spans are printed."""
        url = "http://pay.test/charge"
        with (
            collector() as received,
            running_proxy("--otlp-endpoint", received.url) as proxy,
        ):
            module = "tests.interop.clients.opentelemetry.flask_application"
            program = [sys.executable, "-c", INSTRUMENT, sys.executable, "-m", module, url, url]
            variables = {"OTEL_TRACES_EXPORTER": "console", "OTEL_METRICS_EXPORTER": "none"}
            variables |= {"OTEL_LOGS_EXPORTER": "none", "HTTP_PROXY": proxy.url}
            variables |= {"http_proxy": proxy.url, "NO_PROXY": "", "no_proxy": ""}
            variables["OTEL_BSP_SCHEDULE_DELAY"] = "100"
            child = self.start("flask", program, env=variables, cwd=REPOSITORY)
            test_trace = self.load(proxy.url, child, url)
            stdout = child.process.stdout
            assert stdout is not None
            printed = _printed(stdout, spans=3)
        own = {each["context"]["span_id"].removeprefix("0x") for each in printed}
        self.check(received.spans, own, test_trace)

    def test_express(self) -> None:
        """Express under OpenTelemetry's Node packages and our agent, in both orders.

        A mocked ``fetch`` makes no span of the application: it is below the test.
        """
        modules = self.install("express@5", "@opentelemetry/auto-instrumentations-node@0.81")
        tracer = modules / "@opentelemetry" / "auto-instrumentations-node" / "build" / "src"
        preloads = [f"--require {tracer / 'register.js'}"]
        preloads.append(f"--require {REPOSITORY / 'agent' / 'register.js'}")
        program = self.folder / "application.cjs"
        program.write_text(EXPRESS)
        for order in (preloads, preloads[::-1]):
            with (
                collector() as received,
                running_proxy("--otlp-endpoint", received.url) as proxy,
            ):
                variables = {"NODE_OPTIONS": " ".join(order), "TRAFFICMOCK_PROXY_URL": proxy.url}
                variables |= {"OTEL_EXPORTER_OTLP_ENDPOINT": received.url}
                variables |= {"OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}
                variables |= {"OTEL_NODE_RESOURCE_DETECTORS": "none"}
                variables["OTEL_BSP_SCHEDULE_DELAY"] = "100"
                child = self.start("express", ["node", str(program)], env=variables)
                test_trace = self.load(proxy.url, child, "http://pay.test/charge")
                served = _served(received)
            own = {span.span_id.hex() for span in received.spans if _is_of_application(span)}
            ours = _mocked(received.spans)
            self.assertEqual({span.trace_id.hex() for span in ours}, {test_trace})
            below = [span for span in ours if span.parent_span_id.hex() in own]
            self.assertEqual((len(ours), len(below)), (2, 1))
            self.assertEqual(served.trace_id.hex(), test_trace)

    def load(self, proxy_url: str, child: Child, url: str) -> str:
        """Load the page in a test that mocks what it asks for; return the trace of the test."""
        port = child.announced()["port"]
        with sync.mocks(proxy_url, title="pays") as mocks:
            mocks.mock(url, body="paid")
            headers = dict(mocks.headers)
            page = urllib.request.Request(f"http://127.0.0.1:{port}/page", headers=headers)
            with urllib.request.urlopen(page, timeout=60) as answer:  # noqa: S310 - loopback
                self.assertIn(b"paid", answer.read())
        trace: str = headers["traceparent"].split("-")[1]
        return trace

    def check(self, spans: list[Any], own: set[str], test_trace: str) -> None:
        """Check that our spans are in the trace of the test, below those of the application."""
        mocked = _mocked(spans)
        self.assertTrue(mocked)
        for span in mocked:
            self.assertEqual(span.trace_id.hex(), test_trace, span)
            self.assertIn(span.parent_span_id.hex(), own)
        (test,) = [span for span in spans if span.name == "pays"]
        self.assertEqual(test.trace_id.hex(), test_trace)


def _mocked(spans: list[Any]) -> list[Any]:
    """Return our spans of the requests that the test mocks."""
    ours = [span for span in spans if "trafficmock.decision" in _keys(span)]
    return [span for span in ours if attributes(span.attributes)["server.address"] == "pay.test"]


def _served(received: Any) -> Any:
    """Wait until the application has exported the span of the page, the last one of them."""

    def spans() -> list[Any]:
        return [span for span in received.spans if _is_of_application(span) and span.kind == SERVER]

    wait_until(lambda: bool(spans()), "the application's span of the page")
    return spans()[0]


def _is_of_application(span: Any) -> bool:
    keys = _keys(span)
    return "trafficmock.decision" not in keys and "test.case.name" not in keys


def _keys(span: Any) -> set[str]:
    return {pair.key for pair in span.attributes}


def _printed(stdout: Any, spans: int) -> list[dict[str, Any]]:
    """Read the JSON objects that the console exporter of Python prints."""
    found: list[dict[str, Any]] = []
    text = ""
    while len(found) < spans:
        text += stdout.readline().decode()
        if text.endswith("\n}\n"):
            found.append(json.loads(text))
            text = ""
    return found


def _answers(url: str) -> bool:
    try:
        get(url)
    except json.JSONDecodeError:
        return True
    except OSError as error:
        return "HTTP Error" in str(error)
    return True
