"""The frameworks with the preload: parallel tests, without OpenTelemetry and beside it."""

from __future__ import annotations

import sys

from tests.clients.opentelemetry.frameworks import DEEP, FrameworkCase
from tests.clients.opentelemetry.test_opentelemetry import ENVIRONMENT, INSTRUMENT
from tests.support.child_process import Child
from tests.support.proxy_process import REPOSITORY
from trafficmock.attach.python_preload import DIRECTORY


class AttachedCase(FrameworkCase):
    """An application with the preload, and nothing else that tells it of the proxy."""

    def words(self, framework: str, urls: list[str]) -> list[str]:
        module = f"tests.clients.opentelemetry.{framework}_application"
        return [sys.executable, "-m", module, *urls]

    def start(self, framework: str, proxy_url: str, urls: list[str]) -> Child:
        """Start it."""
        preload = {"TRAFFICMOCK_PROXY_URL": proxy_url, "PYTHONPATH": str(DIRECTORY)}
        return Child.start(
            framework, self.words(framework, urls), env={**ENVIRONMENT, **preload}, cwd=REPOSITORY
        )


class PreloadTests(AttachedCase):
    """Without OpenTelemetry nobody passes the page's own baggage on."""

    traces = False

    def test_fastapi(self) -> None:
        """FastAPI under uvicorn, and httpx."""
        self.check("fastapi", baggage=False)

    def test_flask(self) -> None:
        """Flask under werkzeug, and requests."""
        self.check("flask", baggage=False)

    def test_not_isolated(self) -> None:
        """Tests that claim no context make the same requests ambiguous: the check can fail."""
        with self.application("flask", isolated=False) as (page, tests):
            self.assertIn("500", tests[0].load(page))

    def test_django(self) -> None:
        """Django under werkzeug, and requests."""
        self.check("django", baggage=False)

    def test_aiohttp(self) -> None:
        """aiohttp, as server and client."""
        self.check("aiohttp", baggage=False)

    def test_klein(self) -> None:
        """Klein with a coroutine, and treq."""
        self.check("klein", baggage=False)

    if not DEEP:
        for each in (test_flask, test_not_isolated, test_django, test_aiohttp, test_klein):
            each.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]


class TracedTests(AttachedCase):
    """With OpenTelemetry, whose ``sitecustomize`` is in the way of others, it comes first."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def words(self, framework: str, urls: list[str]) -> list[str]:
        return [sys.executable, "-c", INSTRUMENT, *super().words(framework, urls)]

    def test_flask(self) -> None:
        """Flask and requests."""
        self.check("flask")

    def test_fastapi(self) -> None:
        """FastAPI and httpx."""
        self.check("fastapi")

    def test_aiohttp(self) -> None:
        """aiohttp: its instrumentation passes on the trace alone, the preload the context."""
        self.check("aiohttp", baggage=False)
