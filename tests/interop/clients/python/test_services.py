"""The clients of many services: the result of a call with the preload, and without."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.python import service_upstream
from tests.interop.clients.python.services import SERVICES
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import free_port, running_proxy
from tests.support.threaded_server import threaded_server
from trafficmock.attach.python_preload import DIRECTORY
from trafficmock.testing import sync
from trafficmock.testing.sync import TrafficMock

PROGRAM = Path(__file__).parent / "services.py"
HELPERS = {"causes", "outcome"}
NAMES = sorted(SERVICES.keys() - HELPERS)
PACKAGES = (
    *("requests", "tenacity", "httpx[http2]", "aiohttp", "boto3", "stripe", "openai", "anthropic"),
    *("slack_sdk", "twilio", "google-api-python-client", "sentry-sdk", "algoliasearch"),
    *("flask", "django", "fastapi", "klein", "treq", "celery", "coverage", "ddtrace"),
    *("redis", "rq", "dramatiq[rabbitmq,redis]", "moto[server]", "confluent-kafka", "supervisor"),
    *("gunicorn", "gevent", "pyuwsgi", "uvicorn", "uvloop", "hypercorn", "daphne"),
    # The applications are modules of this project's tests.
    "hypothesis",
)
"""The clients and servers; the newest versions, in an environment of their own."""

SECONDS = 600


@cache
def python() -> str:
    """Make an environment with the clients, or take the one that a variable names."""
    given = os.environ.get("TRAFFICMOCK_BENCH_PYTHON")
    if given:
        return given
    folder = Path(tempfile.mkdtemp(prefix="trafficmock-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    made = str(folder / "bin" / "python")
    install = [made, "-m", "pip", "install", "--quiet", *PACKAGES]
    subprocess.run(install, check=True, timeout=SECONDS, env=clean())
    return made


def clean() -> dict[str, str]:
    """Give an environment that knows nothing of a proxy."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.lower().endswith("_proxy") and name not in {"PYTHONPATH", "VIRTUAL_ENV"}
    }


def outcomes(url: str, names: Sequence[str] = NAMES, **variables: str) -> dict[str, Any]:
    """Call every client, or these, in one process."""
    done = subprocess.run(
        [python(), str(PROGRAM)],
        input="\n".join(names),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**clean(), "SERVICE_URL": url, **variables},
    )
    lines = done.stdout.splitlines()
    assert len(lines) == len(names), done.stderr
    return dict(zip(names, map(json.loads, lines), strict=True))


def from_upstream(route: Any) -> None:
    status, headers, body = service_upstream.answer(urlsplit(route.request.url).path)
    if route.request.method == "PUT":
        body = ""
    route.fulfill(status=status, headers=headers, body=body)


class ServiceTests(SynchronousTestCase):
    """With the preload each client does what it does without."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def setUp(self) -> None:
        self.stack = stack = ExitStack()
        self.addCleanup(stack.close)
        port = stack.enter_context(threaded_server(service_upstream.Services))
        self.url = f"http://127.0.0.1:{port}"
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        proxy = stack.enter_context(running_proxy("--ca-dir", folder))
        self.proxy = proxy
        self.preload = {"TRAFFICMOCK_PROXY_URL": proxy.url, "PYTHONPATH": str(DIRECTORY)}

    def mocks(self) -> TrafficMock:
        return self.stack.enter_context(sync.mocks(self.proxy.url))

    def seen(self) -> int:
        return len(self.proxy.get("/api/history?limit=500")["entries"])

    def differences(self, wanted: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
        return {name: (wanted[name], found[name]) for name in NAMES if wanted[name] != found[name]}

    def test_answers(self) -> None:
        """Passed, mocked, continued and fetched, a call gives what it gives without trafficmock."""
        without = outcomes(self.url)
        failed = {name: found for name, found in without.items() if "error" in found}
        self.assertEqual(failed, {}, "these fail without the preload")
        mocks = self.mocks()
        handlers: dict[str, Any] = {
            "passed": None,
            "mocked": from_upstream,
            "continued": lambda route: route.continue_(),
            "fetched": lambda route: route.fulfill(response=route.fetch()),
        }
        for way, handler in handlers.items():
            before = self.seen()
            if handler is not None:
                mocks.route(f"{self.url}/**", handler)
            found = outcomes(self.url, **self.preload)
            mocks.unroute_all()
            self.assertEqual(self.differences(without, found), {}, way)
            self.assertGreaterEqual(self.seen() - before, len(NAMES), way)

    def test_refused(self) -> None:
        """Aborted, a call fails as where no server listens."""
        nobody = f"http://127.0.0.1:{free_port()}"
        without = outcomes(nobody)
        self.mocks().route(f"{self.url}/**", lambda route: route.abort("connectionrefused"))
        found = outcomes(self.url, **self.preload)
        for name in NAMES:
            self.assertEqual(found[name].get("error"), without[name].get("error"), name)
            if "error" in found[name]:
                self.assertIn("ConnectionRefusedError", found[name]["causes"], name)
        # What passes and finds nobody fails in the same way.
        found = outcomes(nobody, **self.preload)
        for name in NAMES:
            self.assertEqual(found[name].get("error"), without[name].get("error"), name)

    def test_urllib3_1(self) -> None:
        """With urllib3 1 its users do and raise the same as without trafficmock."""
        folder = str(Path(self.mktemp()).absolute())
        install = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, "urllib3<2"]
        subprocess.run([python(), *install], check=True, timeout=SECONDS, env=clean())
        names = ("boto3", "requests_retrying", "twilio")
        preload = {**self.preload, "PYTHONPATH": f"{DIRECTORY}:{folder}"}
        without = outcomes(self.url, names, PYTHONPATH=folder)
        mocks = self.mocks()
        mocks.route("**://third.test/**", lambda route: route.abort("namenotresolved"))
        self.assertEqual(outcomes(self.url, names, **preload), without)
        mocks.route(f"{self.url}/**", from_upstream)
        self.assertEqual(outcomes(self.url, names, **preload), without)
        nowhere = outcomes("http://third.invalid:80", names, PYTHONPATH=folder)
        refused = outcomes(f"http://127.0.0.1:{free_port()}", names, PYTHONPATH=folder)
        unknown = outcomes("http://third.test:80", names, **preload)
        mocks.route(f"{self.url}/**", lambda route: route.abort("connectionrefused"))
        aborted = outcomes(self.url, names, **preload)
        for name in names:
            for found, wanted in ((unknown, nowhere), (aborted, refused)):
                self.assertIn("error", wanted[name])
                # urllib3 1 hides what is below: its own call raises a TypeError on the way.
                self.assertEqual(found[name]["causes"][:2], wanted[name]["causes"][:2], name)

    def test_gone(self) -> None:
        """Without the proxy each call fails, and none reaches its server."""
        self.proxy.stop()
        found = outcomes(self.url, **self.preload)
        fails = {name for name in NAMES if "error" in found[name]}
        # Sentry's client tells nobody what became of an event.
        self.assertEqual(set(NAMES) - fails, {"sentry"})


if __name__ == "__main__":
    sys.stdout.write(f"{python()}\n")
    # It is for the variable that names one.
    atexit.unregister(shutil.rmtree)
