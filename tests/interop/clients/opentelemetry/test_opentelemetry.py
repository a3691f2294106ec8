"""Parallel tests that mock the same URL of one instrumented server, without a line in it."""

import sys

from tests.interop.clients.opentelemetry.frameworks import DEEP, FrameworkCase
from tests.support.processes.child_process import Child
from tests.support.processes.proxy_process import REPOSITORY

INSTRUMENT = "from opentelemetry.instrumentation.auto_instrumentation import run; run()"
ENVIRONMENT = {
    "OTEL_TRACES_EXPORTER": "none",
    "OTEL_METRICS_EXPORTER": "none",
    "OTEL_LOGS_EXPORTER": "none",
    "NO_PROXY": "",
    "no_proxy": "",
    "DJANGO_SETTINGS_MODULE": "tests.interop.clients.opentelemetry.django_settings",
}


class FrameworkTests(FrameworkCase):
    """Each framework under ``opentelemetry-instrument``, and nothing of ours in it."""

    def start(self, framework: str, proxy_url: str, urls: list[str]) -> Child:
        """Start the application of a framework."""
        module = f"tests.interop.clients.opentelemetry.{framework}_application"
        return Child.start(
            framework,
            [sys.executable, "-c", INSTRUMENT, sys.executable, "-m", module, *urls],
            env={"HTTP_PROXY": proxy_url, "http_proxy": proxy_url, **ENVIRONMENT},
            cwd=REPOSITORY,
        )

    def test_flask(self) -> None:
        """Flask and requests."""
        self.check("flask")

    def test_not_isolated(self) -> None:
        """Tests that claim no context make the same requests ambiguous: the check can fail."""
        with self.application("flask", isolated=False) as (page, tests):
            self.assertIn("ambiguous_route", tests[0].load(page))

    def test_django(self) -> None:
        """Django and requests."""
        self.check("django")

    def test_fastapi(self) -> None:
        """FastAPI and httpx."""
        self.check("fastapi")

    def test_aiohttp(self) -> None:
        """aiohttp, whose instrumentation passes on the trace alone."""
        self.check("aiohttp", baggage=False)

    if not DEEP:
        for each in (test_not_isolated, test_django, test_fastapi, test_aiohttp):
            each.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]
