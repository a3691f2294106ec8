"""Each Python server with parallel tests on one URL: every request is its own test's."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request
import venv
from functools import cache
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.python.servers import applications
from tests.interop.clients.python.test_services import clean
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import REPOSITORY
from trafficmock.testing.launch import attached_application, start_proxy
from trafficmock.testing.sync import mocks

PACKAGES = (
    *("bottle", "cherrypy", "cheroot", "daphne", "falcon", "gevent", "gunicorn", "httpx"),
    *("hypercorn", "hypothesis", "klein", "litestar", "quart", "requests", "sanic", "tornado"),
    *("treq", "uvicorn", "waitress", "werkzeug"),
)
INSTALL_SECONDS = 600
TESTS, LOADS, SECONDS = 6, 5, 60.0
APPLICATIONS = applications.__name__


@cache
def programs() -> Path:
    """Make an environment with the servers; return the directory of its programs."""
    folder = Path(tempfile.mkdtemp(prefix="trafficmock-servers-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *PACKAGES]
    subprocess.run(install, check=True, timeout=INSTALL_SECONDS, env=clean())
    return folder / "bin"


class ServerTests(SynchronousTestCase):
    """A page that asks a third party; each test has an answer of its own for it."""

    if not DEEP:
        skip = "slow: set TRAFFICMOCK_DEEP=1"

    def check(self, *words: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        command = [word.replace("PORT", port) for word in words]
        command[0] = str(programs() / command[0])
        proxy = start_proxy()
        self.addCleanup(proxy.stop)
        url = f"http://127.0.0.1:{port}"
        present = os.environ.get("PYTHONPATH", "")
        variables = {"PYTHONPATH": os.pathsep.join(filter(None, (str(REPOSITORY), present)))}
        base = proxy.environment("page", base={**os.environ, **variables})
        with attached_application(command, ready=url, proxy=proxy, cwd=REPOSITORY, env=base):
            answers = self.ask_at_once(url, proxy.url)
        expected = {f"test {number}": [f"test {number}"] * LOADS for number in range(TESTS)}
        self.assertEqual(answers, expected)

    def ask_at_once(self, url: str, proxy_url: str) -> dict[str, list[str]]:
        """Load the page in several tests at once; return what each got."""
        answers: dict[str, list[str]] = {}
        together = threading.Barrier(TESTS)

        def one(name: str) -> None:
            with mocks(proxy_url) as trafficmock:
                trafficmock.mock(applications.URL, body=name)
                together.wait(SECONDS)
                answers[name] = [load(url, trafficmock.headers) for _ in range(LOADS)]
                together.wait(SECONDS)
                trafficmock.take_errors()

        names = [f"test {number}" for number in range(TESTS)]
        threads = [threading.Thread(target=one, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        return answers

    def test_gunicorn(self) -> None:
        """Gunicorn's kinds of workers, without a framework and with Bottle, Falcon and Litestar."""
        words = ("gunicorn", "--bind", "127.0.0.1:PORT", "--log-level", "error")
        self.check(*words, "--workers", "2", f"{APPLICATIONS}:wsgi")
        self.check(*words, "--worker-class", "gevent", f"{APPLICATIONS}:wsgi")
        self.check(*words, "--threads", "8", f"{APPLICATIONS}:bottle()")
        self.check(*words, "--threads", "8", f"{APPLICATIONS}:falcon()")
        uvicorn = ("--worker-class", "uvicorn.workers.UvicornWorker")
        self.check(*words, *uvicorn, f"{APPLICATIONS}:litestar()")

    def test_uvicorn(self) -> None:
        """Uvicorn, without a framework and with Falcon and Litestar."""
        words = ("uvicorn", "--port", "PORT", "--log-level", "error")
        self.check(*words, f"{APPLICATIONS}:asgi")
        self.check(*words, "--factory", f"{APPLICATIONS}:falcon_asgi")
        self.check(*words, "--factory", f"{APPLICATIONS}:litestar")

    def test_hypercorn(self) -> None:
        """Hypercorn, for ASGI, for WSGI, and with Quart."""
        words = ("hypercorn", "--bind", "127.0.0.1:PORT")
        self.check(*words, f"{APPLICATIONS}:asgi")
        self.check(*words, f"wsgi:{APPLICATIONS}:wsgi")
        self.check(*words, f"{APPLICATIONS}:quart()")

    def test_daphne(self) -> None:
        self.check("daphne", "-b", "127.0.0.1", "-p", "PORT", f"{APPLICATIONS}:asgi")

    def started(self, name: str) -> None:
        self.check("python", "-m", "tests.interop.clients.python.servers.start", name, "PORT")

    def test_waitress(self) -> None:
        self.started("waitress")

    def test_werkzeug(self) -> None:
        self.started("werkzeug")

    def test_gevent(self) -> None:
        self.started("gevent")

    def test_cheroot(self) -> None:
        """Cheroot, alone and under CherryPy."""
        self.started("cheroot")
        self.started("cherrypy")

    def test_sanic(self) -> None:
        self.started("sanic")

    def test_tornado(self) -> None:
        self.started("tornado")

    def test_klein(self) -> None:
        """Callbacks of plain Deferreds."""
        self.started("klein")


def load(url: str, headers: dict[str, str]) -> str:
    """Return the page, or the error."""
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - loopback
            text: str = answer.read().decode()
    except urllib.error.HTTPError as error:
        return f"{error.code}: {error.read()[:200]!r}"
    return text
