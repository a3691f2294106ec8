"""Programs of any language, started by ``trafficmock run``, reach an https server by the proxy."""

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.interop.attached.tls_upstream import REFS, TlsUpstream
from tests.interop.npm.specs import unless_deep
from tests.support.processes.proxy_process import ProxyProcess
from tests.support.processes.tested_proxy import start_proxy, target

REPOSITORY = Path(__file__).parents[3]
EXAMPLES = REPOSITORY / "docs" / "examples" / "attach"
HOST = "shop.test"
CHILD_SECONDS = 120.0
_OURS = ("_proxy", "trafficmock", "java_tool", "node_options")


@frozen
class TlsProxy:
    """A proxy with an authority of its own, and the https server behind it."""

    proxy: ProxyProcess
    upstream: TlsUpstream
    data: str

    def environment(self) -> dict[str, str]:
        """Give this process's environment without what would attach it elsewhere."""
        kept = {k: v for k, v in os.environ.items() if not any(o in k.lower() for o in _OURS)}
        return kept | {"PYTHONPATH": str(REPOSITORY), "XDG_DATA_HOME": self.data}

    def stop(self) -> None:
        """End what was started."""
        self.proxy.stop()
        self.upstream.stop()

    def run(self, *command: str, agent: bool = False, env: Mapping[str, str] | None = None) -> str:
        """Run a command by ``trafficmock run``; give what it printed."""
        argv = [sys.executable, "-m", "trafficmock", "run", "--proxy-url", self.proxy.url]
        argv += ["--client-id", "any shop", *([] if agent else ["--no-agent"]), "--", *command]
        done = subprocess.run(
            argv,
            env={**self.environment(), **(env or {})},
            capture_output=True,
            text=True,
            timeout=CHILD_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    def recorded(self, path: str) -> list[dict[str, Any]]:
        """List the history's entries for a path."""
        entries: list[dict[str, Any]] = self.proxy.get(f"/api/history?q={path}")["entries"]
        return entries


def make_tls_proxy(data: str, **env: str) -> TlsProxy:
    """Start the processes.

    :param data: a directory for the proxy's and the programs' data.
    :param env: added to the proxy's environment.
    """
    upstream = TlsUpstream(HOST)
    options = ["--upstream-ca", str(upstream.ca)]
    options += ["--resolve", f"{HOST}:{upstream.port}:127.0.0.1"]
    return TlsProxy(start_proxy(options, {"XDG_DATA_HOME": data, **env}), upstream, data)


@functools.cache
def tls_proxy() -> TlsProxy:
    """Give the proxy that all tests of this process share."""
    data = tempfile.TemporaryDirectory()
    atexit.register(data.cleanup)
    made = make_tls_proxy(data.name)
    atexit.register(made.stop)
    return made


class AttachedTests(SynchronousTestCase):
    """One client, one request, one entry in the history."""

    def setUp(self) -> None:
        if target() == "npm":
            raise SkipTest("the npm proxy is no forward proxy")

    def check(self, *command: str, client: str = "any shop") -> None:
        """Run a command with the URL behind it."""
        path = f"/{self._testMethodName}"
        output = tls_proxy().run(*command, f"https://{tls_proxy().upstream.authority}{path}")
        self.assertIn(f"{path} of {tls_proxy().upstream.authority} over TLS", output)
        entries = tls_proxy().recorded(path)
        seen = [(entry["clientId"], entry["outcome"]["kind"]) for entry in entries]
        self.assertEqual(seen, [(client, "passthrough")])
        self.assertEqual(entries[0]["request"]["url"][:8], "https://")

    def example(self, program: str, name: str, *, client: str = "any shop") -> None:
        """Run one of the documentation's programs."""
        self.check(program, str(EXAMPLES / name), client=client)

    def test_curl(self) -> None:
        """Curl comes through, and trusts what it sees."""
        self.check("curl", "--silent", "--show-error")

    def test_requests(self) -> None:
        """Python's requests comes through."""
        self.example(sys.executable, "with_requests.py")

    def test_httpx(self) -> None:
        """Python's httpx comes through."""
        self.example(sys.executable, "with_httpx.py")

    def test_urllib(self) -> None:
        """Python's standard library comes through."""
        self.example(sys.executable, "with_urllib.py")

    def test_aiohttp(self) -> None:
        """Python's aiohttp comes through where it is told to look at the environment."""
        self.example(sys.executable, "with_aiohttp.py")

    def test_java(self) -> None:
        """Java's HttpClient comes through; its options cannot carry a name."""
        self.example("java", "WithHttpClient.java", client="proxy")

    def test_ruby(self) -> None:
        """Ruby's Net::HTTP comes through."""
        self.example(found("ruby", "ruby"), "with_net_http.rb")

    def test_php(self) -> None:
        """PHP's curl comes through."""
        self.example(found("php", "php-cli php-curl"), "with_curl.php")

    def test_go(self) -> None:
        """Go's net/http comes through."""
        slow = unless_deep()
        if slow:
            raise SkipTest(slow)
        go, source = found("go", "golang-go"), str(EXAMPLES / "with_net_http.go")
        with tempfile.TemporaryDirectory() as directory:
            binary = str(Path(directory) / "client")
            subprocess.run(
                [go, "build", "-o", binary, source],
                env=os.environ | {"GOCACHE": directory, "GOFLAGS": "-mod=mod"},
                timeout=CHILD_SECONDS,
                check=True,
            )
            self.check(binary)

    def test_git(self) -> None:
        """Git asks the server through the proxy."""
        url = f"https://{tls_proxy().upstream.authority}/project.git"
        self.assertEqual(tls_proxy().run("git", "ls-remote", url), REFS)
        (entry,) = tls_proxy().recorded("/project.git/info/refs")
        self.assertEqual(entry["outcome"]["response"]["status"], 200)


class TokenTests(SynchronousTestCase):
    """A proxy that asks for a token."""

    TOKEN = "s/e:c%r t"

    def test_token(self) -> None:
        """Name and token come through whatever is in them; without the token nothing starts."""
        if target() == "npm":
            raise SkipTest("the npm proxy is no forward proxy")
        made = make_tls_proxy(str(Path(self.mktemp()).absolute()), TRAFFICMOCK_TOKEN=self.TOKEN)
        self.addCleanup(made.stop)
        url = f"https://{made.upstream.authority}/token"
        token = {"TRAFFICMOCK_TOKEN": self.TOKEN}
        self.assertIn("over TLS", made.run("curl", "--silent", url, env=token))
        requests = str(EXAMPLES / "with_requests.py")
        self.assertIn("over TLS", made.run(sys.executable, requests, url, env=token))
        refused = self.assertRaises(AssertionError, made.run, "curl", "--silent", "-S", url)
        self.assertIn("wants a token", str(refused))
        clients = [entry["clientId"] for entry in made.recorded("/token")]
        self.assertEqual(clients, ["any shop", "any shop"])


def found(program: str, package: str) -> str:
    """Find a program that few machines have.

    :raises SkipTest: where it is not; with the line that installs it.
    """
    path = shutil.which(program)
    if path is None:
        raise SkipTest(f"{program} is not here: apt-get install --yes {package}")
    return path


class AgentTests(SynchronousTestCase):
    """Node applications have the agent, and are told of the proxy too."""

    def test_once(self) -> None:
        """A request of an attached client that reads proxy variables is announced once."""
        if target() == "npm":
            raise SkipTest("the npm proxy is no forward proxy")
        upstream = TlsUpstream("127.0.0.1")
        self.addCleanup(upstream.stop)
        output = tls_proxy().run(
            "node",
            "-e",
            "require('axios').get(process.argv[1]).then((r) => console.log(r.data))",
            f"https://{upstream.authority}/once",
            agent=True,
            env={
                "NODE_EXTRA_CA_CERTS": str(upstream.ca),
                "NODE_PATH": str(REPOSITORY / "agent" / "node_modules"),
            },
        )
        self.assertIn("/once of", output)
        (entry,) = tls_proxy().recorded("/once")
        self.assertEqual(entry["clientId"], "any shop")
