"""What takes long: the agent on every Node version, its memory, and frameworks that are large."""

import os
import shutil
from unittest.mock import patch

from twisted.trial.unittest import SynchronousTestCase

from tests.agent.test_agent import AGENT, SECONDS, run
from tests.interop.clients.python.test_services import python
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.npm_packages import install

PLACE = AGENT / "test" / "deep"
VERSIONS = ("node20", "node22", "node24", "node26")
# What Nuxt and its tools need is newer than what the agent needs.
NUXT_NODE = "node22"


def node(version: str) -> str:
    """Find the binary of a Node version.

    :param version: one of :data:`VERSIONS`.
    """
    install(PLACE, version)
    return str(PLACE / "node_modules" / version / "bin" / "node")


class DeepTests(SynchronousTestCase):
    """Run with ``tox -e deep``."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def check(self, binary: str, *files: str, seconds: float = SECONDS) -> str:
        done = run(binary, *files, seconds=seconds)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
        return done.stdout

    def test_every_node(self) -> None:
        """Every test file passes on Node 20, 22, 24 and 26, in CommonJS and ESM."""
        place = AGENT / "test"
        files = sorted(
            str(path.relative_to(place))
            for pattern in ("*.test.?js", "*/*.test.?js")
            for path in place.glob(pattern)
            if path.parent != PLACE
        )
        for version in VERSIONS:
            for file in files:
                self.check(node(version), file)

    def test_memory(self) -> None:
        """20,000 requests leave nothing behind."""
        shown = self.check(node("node22"), "deep/memory.test.mjs")
        self.assertIn("memory over 20000 requests", shown)

    def test_stream(self) -> None:
        """500 MB go through each way, and neither the application nor the proxy grows."""
        self.check(shutil.which("node") or "node", "deep/stream.test.mjs")

    def test_local_race(self) -> None:
        """2000 routes, while the application blocks and is stopped, and its link is cut."""
        self.check(shutil.which("node") or "node", "deep/local-race.test.mjs", seconds=1800)

    def test_local_waiter(self) -> None:
        """10,000 tests subscribe right after a request, and are told of none of before."""
        self.check(shutil.which("node") or "node", "deep/local-waiter.test.mjs", seconds=1800)

    def test_opentelemetry(self) -> None:
        """Contexts go together with OpenTelemetry's baggage, in either order of preloads."""
        install(PLACE, "@opentelemetry/auto-instrumentations-node")
        for version in VERSIONS:
            self.check(node(version), "deep/opentelemetry.test.mjs")

    def test_ways(self) -> None:
        """A request keeps its test on the ways through npm packages, but for named ones."""
        install(PLACE, "p-queue")
        for version in VERSIONS:
            self.check(node(version), "deep/ways.test.mjs")

    def test_kinds(self) -> None:
        """Work in the background is its test's or nobody's, as the page says."""
        install(PLACE, "node-cron")
        for version in VERSIONS:
            self.check(node(version), "deep/kinds.test.mjs", seconds=600)

    def test_messages(self) -> None:
        """Messages of BullMQ, amqplib, kafkajs, SQS and SNS are handled in their contexts."""
        install(PLACE, "amqplib")
        with patch.dict(os.environ, {"TRAFFICMOCK_BENCH_PYTHON": python()}):
            self.check(shutil.which("node") or "node", "deep/messages.test.mjs", seconds=900)

    def test_loaders(self) -> None:
        """Libraries are hooked by every loader, and in the bundles of several bundlers."""
        install(PLACE, "webpack")
        for version in VERSIONS:
            self.check(node(version), "deep/loaders.test.mjs", seconds=600)

    def test_servers(self) -> None:
        """Parallel tests on one Express, Fastify or Koa server are kept apart, in all hooks."""
        install(PLACE, "koa")
        for version in VERSIONS:
            self.check(node(version), "deep/servers.test.mjs")

    def test_jest(self) -> None:
        """Jest's contexts are attached, by ``trafficmock run`` and by a set-up file."""
        install(PLACE, "jest")
        for version in VERSIONS:
            self.check(node(version), "deep/jest.test.mjs")

    def test_next(self) -> None:
        """A Next.js application is mocked end to end without a line of code in it."""
        install(PLACE / "next-app", "next")
        for version in VERSIONS:
            self.check(node(version), "deep/next.test.mjs")

    def test_next_contexts(self) -> None:
        """Parallel tests on one Next.js server, in development and built, are kept apart."""
        install(PLACE / "next-app", "next")
        for version in VERSIONS:
            self.check(node(version), "deep/next-contexts.test.mjs")

    def test_nest(self) -> None:
        """So is a NestJS application."""
        install(PLACE / "nest-app", "@nestjs/core")
        for version in VERSIONS:
            self.check(node(version), "deep/nest.test.mjs")

    def test_nuxt(self) -> None:
        """So is a Nuxt application, built and under ``nuxt dev``, with its Nitro routes."""
        install(PLACE / "nuxt-app", "nuxt")
        self.check(node(NUXT_NODE), "deep/nuxt.test.mjs")
