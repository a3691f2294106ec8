"""Parallel tests that mock the same URLs on one Express and one Flask server."""

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import SkipTest
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from tests.agent.test_deep import VERSIONS, node
from tests.interop.clients.python.messages import brokers
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.node_parts import node_binary
from tests.support.processes.tested_proxy import start_proxy
from tests.testing import runs
from tests.testing.row_context import ask

EXPRESS = runs.REPOSITORY / "agent" / "test" / "apps" / "pages.cjs"
BULLMQ = EXPRESS.parent / "pages-bullmq.cjs"
FLASK = runs.APPLICATIONS / "pages_flask.py"
ATTACHED = tuple(runs.APPLICATIONS / f"pages_{name}.py" for name in ("flask", "django", "fastapi"))
"""Applications with the preload of Python processes, and without OpenTelemetry."""
TESTS = Path(__file__).parent / "samples" / "on_two_servers.py"
WORKERS = 8
EACH = 25
LIMIT = 10_000
INSTRUMENT = "from opentelemetry.instrumentation.auto_instrumentation import run; run()"
INSTRUMENTED = [
    *(
        "env",
        "TRAFFICMOCK_PYTHON_PRELOAD=0",
        "OTEL_TRACES_EXPORTER=none",
        "OTEL_METRICS_EXPORTER=none",
        "OTEL_LOGS_EXPORTER=none",
    ),
    *(sys.executable, "-c", INSTRUMENT),
]
"""Runs a command under OpenTelemetry's zero-code instrumentation."""


class SharedServersTests(SynchronousTestCase):
    """Eight workers with 25 tests each; every test has tokens of its own."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def run_all(self, version: str, isolation: str) -> tuple[str, list[Any]]:
        """Run the tests on Express, and on Flask under OpenTelemetry."""
        return self.run_on(
            isolation,
            ([node(version), str(EXPRESS)], ()),
            (
                [*INSTRUMENTED, sys.executable, str(FLASK)],
                ("--no-agent",),
            ),
        )

    def run_on(
        self,
        isolation: str,
        *servers: tuple[list[str], tuple[str, ...]],
        workers: Sequence[list[str]] = (),
    ) -> tuple[str, list[Any]]:
        """Give what pytest says, and the history.

        :param servers: commands, and options of ``trafficmock run``.
        :param workers: commands of processes that work for the servers.
        """
        with ExitStack() as stack:
            proxy = start_proxy(["--history-limit", str(LIMIT)])
            stack.callback(proxy.stop)
            data = str(Path(self.mktemp()).absolute())
            for command in workers:
                stack.callback(runs.attached(proxy.url, command, data=data).stop)
            urls = []
            for command, options in servers:
                child = runs.attached(proxy.url, command, *options, data=data)
                stack.callback(child.stop)
                urls.append(child.announced()["url"])
            output = runs.run(
                *(*runs.lean_pytest("xdist"), str(TESTS), "-n", str(WORKERS)),
                f"--trafficmock-isolation={isolation}",
                environment={
                    **runs.LEAN,
                    "SAMPLE_SERVERS": " ".join(urls),
                    "SAMPLE_COUNT": str(WORKERS * EACH),
                    "TRAFFICMOCK_PROXY_URL": proxy.url,
                },
                seconds=600,
            )
            return output, ask(f"{proxy.url}/api/history?limit={LIMIT}")["entries"]

    def test_isolated(self) -> None:
        """Every page shows its own tokens, and nothing is ambiguous."""
        for version in VERSIONS:
            output, entries = self.run_all(version, "required")
            self.assertIn(f"{WORKERS * EACH} passed", output, output)
            self.assertNotIn("ambiguous_route", json.dumps(entries))
            answered = sum(entry["action"] == "fulfill" for entry in entries)
            self.assertEqual(answered, WORKERS * EACH * 2 * 2 * 3)

    def test_attached(self) -> None:
        """So it is on Flask, Django and FastAPI with nothing but the preload."""
        servers: list[Any] = [([sys.executable, str(path)], ()) for path in ATTACHED]
        output, entries = self.run_on("required", *servers)
        self.assertIn(f"{WORKERS * EACH} passed", output, output)
        self.assertNotIn("ambiguous_route", json.dumps(entries))
        answered = sum(entry["action"] == "fulfill" for entry in entries)
        self.assertEqual(answered, WORKERS * EACH * 2 * len(ATTACHED) * 3)

    def test_queues(self) -> None:
        """So it is where tasks of a worker of Celery, and of one of BullMQ, ask."""
        if brokers.REDIS is None:
            raise SkipTest("redis-server is not installed")
        url = self.enterContext(brokers.redis())
        results = Path(self.mktemp()).absolute()
        results.mkdir()
        python = ["env", f"BROKER={url}", f"RESULTS={results}", sys.executable]
        pages = runs.APPLICATIONS / "pages_celery.py"
        worker = ["celery", "--workdir", str(pages.parent), "--app", pages.stem, "worker"]
        celery = [*python, "-m", *worker, "--concurrency=4", "--loglevel=ERROR"]
        node = ["env", f"REDIS_PORT={urlsplit(url).port}", str(node_binary()), str(BULLMQ)]
        servers: list[Any] = [([*python, str(pages)], ()), ([*node, "web"], ())]
        workers = [celery, [*node, "worker"]]
        output, entries = self.run_on("required", *servers, workers=workers)
        self.assertIn(f"{WORKERS * EACH} passed", output, output)
        self.assertNotIn("ambiguous_route", json.dumps(entries))
        answered = sum(entry["action"] == "fulfill" for entry in entries)
        self.assertEqual(answered, WORKERS * EACH * 2 * 2 * 3)

    def test_attached_off(self) -> None:
        """Without contexts they are ambiguous there, too."""
        output, entries = self.run_on("off", ([sys.executable, str(ATTACHED[0])], ()))
        self.assertIn("ambiguous_route", json.dumps(entries))
        self.assertIn("failed", output)

    def test_off(self) -> None:
        """Without contexts the same tests are ambiguous, so this can fail."""
        output, entries = self.run_all(VERSIONS[0], "off")
        self.assertIn("ambiguous_route", json.dumps(entries))
        self.assertIn("failed", output)
