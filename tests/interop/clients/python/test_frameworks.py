"""The frameworks with the preload: parallel tests, without OpenTelemetry and beside it."""

import sys
from pathlib import Path

from tests.interop.clients.opentelemetry.frameworks import DEEP, FrameworkCase
from tests.interop.clients.opentelemetry.test_opentelemetry import ENVIRONMENT, INSTRUMENT
from tests.interop.clients.python import test_services
from tests.support.processes.child_process import Child
from tests.support.processes.proxy_process import REPOSITORY
from trafficmock.attach.python_preload import DIRECTORY


def preloaded(proxy_url: str) -> dict[str, str]:
    """Give the variables; those of the proxy are there for programs in other languages."""
    return {
        "TRAFFICMOCK_PROXY_URL": proxy_url,
        "PYTHONPATH": str(DIRECTORY),
        "HTTP_PROXY": proxy_url,
        "http_proxy": proxy_url,
    }


class AttachedCase(FrameworkCase):
    """An application with the preload."""

    def words(self, framework: str, urls: list[str]) -> list[str]:
        module = f"tests.interop.clients.opentelemetry.{framework}_application"
        return [sys.executable, "-m", module, *urls]

    def start(self, framework: str, proxy_url: str, urls: list[str]) -> Child:
        """Start it."""
        preload = preloaded(proxy_url)
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


FLASK = "tests.interop.clients.opentelemetry.flask_application:application"
DJANGO = "tests.interop.clients.opentelemetry.django_application:application"
FASTAPI = "tests.interop.clients.opentelemetry.fastapi_application:application"
GUNICORN = ("gunicorn", "--bind", "fd://FD", "--log-level", "error")
HYPERCORN = ("hypercorn", "--bind", "fd://FD", "--log-level", "error")


class ServerTests(AttachedCase):
    """An application under each server, which are installed for it."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    traces = False
    server: tuple[str, ...] = ()
    asgi = ""

    def start(self, framework: str, proxy_url: str, urls: list[str]) -> Child:
        """Start it; the preload is kept when the program becomes the server."""
        preload = preloaded(proxy_url)
        preload["PYTHONPATH"] += f":{REPOSITORY}"
        more = {"PAGE_URLS": " ".join(urls), "ASGI": self.asgi, "TRAFFICMOCK_CLIENT_ID": framework}
        words = [test_services.python(), "-m", "tests.interop.clients.python.served", *self.server]
        return Child.start(framework, words, env={**ENVIRONMENT, **preload, **more}, cwd=REPOSITORY)

    def under(self, *server: str, asgi: str = "") -> None:
        self.server, self.asgi = server, asgi
        self.check(server[0], baggage=False)

    def test_gunicorn_sync(self) -> None:
        """Gunicorn with four processes."""
        self.under(*GUNICORN, "--workers", "4", FLASK)

    def test_gunicorn_threads(self) -> None:
        """Gunicorn with threads, the application loaded before it forks."""
        self.under(*GUNICORN, "--workers", "2", "--threads", "8", "--preload", FLASK)

    def test_gunicorn_django(self) -> None:
        """Gunicorn with threads, and Django."""
        self.under(*GUNICORN, "--threads", "8", DJANGO)

    def test_uvicorn(self) -> None:
        """Uvicorn with two processes, which it starts by spawning."""
        self.under("uvicorn", "--fd", "FD", "--workers", "2", "--log-level", "error", FASTAPI)

    def test_uvicorn_django(self) -> None:
        """Uvicorn, and Django as ASGI."""
        self.under("uvicorn", "--fd", "FD", "--log-level", "error", DJANGO, asgi="1")

    def test_hypercorn(self) -> None:
        """Hypercorn, and FastAPI."""
        self.under(*HYPERCORN, FASTAPI)

    def test_coverage(self) -> None:
        """Gunicorn in a process whose coverage is measured."""
        coverage = ("coverage", "run", f"--data-file={Path(self.mktemp()).absolute()}")
        self.under(*coverage, "-m", *GUNICORN, "--threads", "8", FLASK)

    def test_coverage_ddtrace(self) -> None:
        """The same in a process that ddtrace has attached itself to before."""
        coverage = ("coverage", "run", f"--data-file={Path(self.mktemp()).absolute()}", "-m")
        traced = ("bin/ddtrace-run", "PYTHON", "-m", *coverage, *GUNICORN)
        self.under(*traced, "--threads", "8", FLASK)

    def test_gevent(self) -> None:
        """Gunicorn with greenlets, for which the standard library is changed."""
        self.under(*GUNICORN, "--worker-class", "gevent", "--workers", "2", FLASK)

    def test_uwsgi(self) -> None:
        """Two processes of uWSGI with threads, which load the application before they fork."""
        workers = ("--master", "--processes", "2", "--threads", "4", "--die-on-term")
        http = ("--http-socket", "127.0.0.1:PORT", "--listen", "100", "--disable-logging")
        self.under("bin/pyuwsgi", *http, *workers, "--module", FLASK)

    def test_klein(self) -> None:
        """Klein under twistd."""
        resource = "tests.interop.clients.opentelemetry.klein_application.resource"
        listen = "--listen=tcp:PORT:interface=127.0.0.1"
        log = f"--logfile={Path(self.mktemp()).absolute()}"
        self.under("bin/twistd", "-n", "--pidfile=", log, "web", listen, f"--class={resource}")

    def test_daphne(self) -> None:
        """Daphne, and Django as ASGI."""
        self.under("daphne", "--fd", "FD", "--verbosity", "0", DJANGO, asgi="1")
