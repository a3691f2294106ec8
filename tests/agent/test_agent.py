"""The Node agent's own tests, against the proxy of this checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.node_parts import node_binary
from tests.support.processes.process_group import run_group

AGENT = Path(__file__).parents[2] / "agent"
INSTALL = "npm ci --prefix agent"
SECONDS = 240


def run(node: str, *files: str, seconds: float = SECONDS) -> subprocess.CompletedProcess[str]:
    """Run test files of the agent.

    :param node: the Node to run them with.
    :param seconds: that they may take.
    """
    if not (AGENT / "node_modules" / "ws").exists():
        raise AssertionError(f"the agent's npm packages are missing; run: {INSTALL}")
    argv = [node, "--test", "--test-concurrency=1", *(f"test/{name}" for name in files)]
    env = {**os.environ, "TRAFFICMOCK_TEST_PYTHON": sys.executable, "NODE_OPTIONS": ""}
    # A test file starts proxies and applications, which would outlive a runner that hangs.
    return run_group(argv, seconds, cwd=AGENT, env=env)


class AgentTests(SynchronousTestCase):
    """Each file of ``agent/test`` passes on the machine's Node."""

    def check(self, *files: str, node: str | None = None) -> str:
        done = run(node or shutil.which("node") or "node", *files)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
        return done.stdout

    def test_matrix(self) -> None:
        """Every client library does every feature, loaded as ESM."""
        shown = self.check("clients/matrix-esm.test.mjs")
        self.assertIn("fetch, then fulfill", shown)
        self.assertNotIn("FAILED", shown)

    def test_lifecycle(self) -> None:
        """It starts, stops, loses its link and comes back as documented."""
        self.check("process/lifecycle.test.mjs")

    def test_cost(self) -> None:
        """What keeps a mocked request cheap for the application is in force."""
        self.check("process/cost.test.mjs")

    def test_no_url(self) -> None:
        """Without a proxy URL it does nothing at all."""
        self.check("process/no-url.test.mjs")

    def test_ids(self) -> None:
        """Children, cluster workers and threads have the ids that the docs say."""
        self.check("process/ids.test.mjs")

    def test_local(self) -> None:
        """What no route can match passes without a question, and is reported."""
        self.check(
            "local/local-batch.test.mjs",
            "local/local-filter.test.mjs",
            "local/local-lease.test.mjs",
            "local/local.test.mjs",
        )

    def test_local_race(self) -> None:
        """No request that began after its route was acknowledged goes past it."""
        self.check("local/local-race.test.mjs")

    def test_strict(self) -> None:
        """What strict mode refuses fails at once, and clients that repeat do not."""
        self.check("strict.test.mjs")

    def test_hello(self) -> None:
        """The handshake names the process and its command line."""
        self.check("link/hello.test.mjs")

    def test_hostile_proxy(self) -> None:
        """No word of a proxy hangs a request or ends the process; Node 22 has WebSockets."""
        self.check("link/hostile-proxy.test.mjs", node=str(node_binary()))

    def test_lost_link(self) -> None:
        """What waits fails when the proxy dies, what flows goes on, and it comes back."""
        self.check("link/lost-link.test.mjs", node=str(node_binary()))

    def test_override_redirect(self) -> None:
        """The headers that a handler continues with hold for redirects, with all clients."""
        self.check("clients/override-redirect.test.mjs")

    def test_env_proxy(self) -> None:
        """What would go through our own forward proxy is announced once."""
        self.check("link/env-proxy.test.mjs")

    def test_types(self) -> None:
        """The agent's JSDoc types hold, strictly."""
        compiler = AGENT / "node_modules" / "typescript" / "bin" / "tsc"
        argv = [shutil.which("node") or "node", str(compiler), "-p", "."]
        done = subprocess.run(argv, cwd=AGENT, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "")

    def test_context(self) -> None:
        """Requests belong to the test whose context led to them, and take it to own hosts only."""
        self.check("contexts/context.test.mjs")
        self.check("contexts/context-headers.test.mjs")
        self.check("contexts/known-contexts.test.mjs")
        self.check("contexts/repeated-timers.test.mjs")
        self.check("contexts/request-origin.test.mjs", "contexts/queues.test.mjs")
        self.check("contexts/http2-servers.test.mjs", "contexts/seen-contexts.test.mjs")
        self.check("contexts/own-tests.test.mjs")

    def test_woken(self) -> None:
        """What another test's request has woken is nobody's, but for jobs that were kept bound."""
        self.check(
            "contexts/connections.test.mjs",
            "contexts/loops.test.mjs",
            "contexts/shared-channels.test.mjs",
            "contexts/streams-of-jobs.test.mjs",
            "contexts/wakes.test.mjs",
        )

    def test_loaders(self) -> None:
        """Libraries are hooked whichever loader compiles them, undici in a bundle at once."""
        self.check(
            "process/loaders.test.mjs",
            "process/bundled-libraries.test.mjs",
            "process/code-reader.test.mjs",
            "process/module-bundles.test.mjs",
            "process/vm-texts.test.mjs",
        )

    def test_messages(self) -> None:
        """So do messages of queues, by stand-ins of the libraries, and jobs of BullMQ by Redis."""
        self.check("contexts/messages.test.mjs", "contexts/bullmq.test.mjs")

    def test_async_context(self) -> None:
        """The application's own AsyncLocalStorages are there in its requests' events."""
        self.check("contexts/async-context.test.mjs")

    def test_frameworks(self) -> None:
        """Express and Fastify are mocked by ``NODE_OPTIONS`` alone."""
        self.check("frameworks.test.mjs")

    def test_faithful(self) -> None:
        """What the application's own client does, it still does."""
        self.check("clients/faithful.test.mjs")

    def test_sockets(self) -> None:
        """A request has one socket, with the events of a real one, whatever is decided."""
        self.check("clients/socket-events.test.mjs")

    def test_expect(self) -> None:
        """A body waits for 100 Continue as without the agent, with each decision."""
        self.check("clients/expect.test.mjs")

    def test_unchanged(self) -> None:
        """A request that is sent on changes in nothing but what the test changes."""
        self.check("clients/unchanged.test.mjs", node=str(node_binary()))

    def test_passed_at_once(self) -> None:
        """What passes by itself takes the way that it takes without the agent."""
        self.check("clients/passed-at-once.test.mjs")

    def test_foreign_agents(self) -> None:
        """Agents of libraries open their connections as without the agent, and get no context."""
        self.check("clients/foreign-agents.test.mjs", "contexts/connect.test.mjs")

    def test_timeouts(self) -> None:
        """A client's own time limit ends a request as without the agent; undici 8 needs Node 22."""
        self.check("clients/timeouts.test.mjs", node=str(node_binary()))

    def test_unseen(self) -> None:
        """What is no request of a client stays as it is, and HTTP/2 is named or refused."""
        self.check("left-alone.test.mjs", "link/proxy-variables.test.mjs")
        self.check("clients/http2.test.mjs", "clients/unresolved-hosts.test.mjs")

    def test_unix_sockets(self) -> None:
        """Requests over UNIX sockets pass unseen, unless a route names them."""
        self.check("clients/unix-sockets.test.mjs")

    def test_host_pattern(self) -> None:
        """The agent reads the patterns of hosts that the proxy reads."""
        self.check("host-pattern.test.mjs")

    def test_libraries(self) -> None:
        """Libraries, an undici of one's own, WebSockets, and a fetch that is given up."""
        self.check(
            "clients/libraries.test.mjs",
            "clients/own-undici.test.mjs",
            "clients/websocket-global.test.mjs",
            "clients/given-up-fetch.test.mjs",
        )

    def test_process(self) -> None:
        """The places of calls, the tools of developers, and fake timers."""
        self.check(
            "process/callers.test.mjs",
            "process/tools.test.mjs",
            "process/fake-timers.test.mjs",
        )

    def test_stream(self) -> None:
        """Bodies flow both ways as they come, and the history follows."""
        self.check("clients/stream.test.mjs")

    def test_arrival(self) -> None:
        """The times at which the pieces of a real answer came are reported to the test."""
        self.check("clients/arrival.test.mjs")

    def test_stream_mocks(self) -> None:
        """A test writes an answer piece by piece, at the pace of each client."""
        self.check("clients/stream-mocks.test.mjs")

    def test_stream_mocks_node_22(self) -> None:
        """The same in the newer Node, also with undici 8."""
        self.check("clients/stream-mocks.test.mjs", node=str(node_binary()))

    def test_faults(self) -> None:
        """A mock that breaks is the error of each client that a failing server is."""
        self.check("clients/faults.test.mjs")

    def test_undici(self) -> None:
        """Interceptors, timeouts, streams and bodiless answers of every undici; 8 needs Node 22."""
        self.check("clients/undici.test.mjs", node=str(node_binary()))

    def test_undici_close(self) -> None:
        """Dispatchers of every undici close, and are destroyed, while their requests are held."""
        self.check("clients/undici-close.test.mjs", node=str(node_binary()))

    def test_undici_events(self) -> None:
        """Handlers of every undici hear what a server would make them hear, in its order."""
        self.check("clients/undici-events.test.mjs", node=str(node_binary()))

    def test_upgrades(self) -> None:
        """A request that changes to another protocol goes on by it, also if a test changes it."""
        self.check("clients/upgrades.test.mjs")

    def test_websocket(self) -> None:
        """WebSockets are mocked, relayed and let through; Node 22 has a class of its own."""
        self.check("clients/websocket.test.mjs", node=str(node_binary()))

    def test_npm_proxy(self) -> None:
        """Another proxy is refused, once and with the remedy."""
        self.check("link/npm-proxy.test.mjs", node=str(node_binary()))


class EveryFileTests(SynchronousTestCase):
    """No file of ``agent/test`` is forgotten."""

    def test_is_run(self) -> None:
        """Each is named by a module here."""
        modules = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
        files = {
            path.relative_to(AGENT / "test").as_posix()
            for path in (AGENT / "test").rglob("*.test.mjs")
            if "node_modules" not in path.parts
        }
        self.assertEqual({name for name in files if name not in modules}, set())
