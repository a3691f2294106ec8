"""What passes is not changed: the same answers and errors, attached and not."""

from __future__ import annotations

import json
import re
import ssl
import subprocess
import sys
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.python.passing import calls
from tests.interop.clients.python.passing.misbehaving_server import (
    MisbehavingServer,
    fingerprint,
    tls,
)
from tests.interop.clients.python.test_services import clean
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import start_proxy
from tests.support.self_signed import write_certificate
from trafficmock.attach.python_preload import DIRECTORY

PROGRAM = Path(calls.__file__)
OK = 200
RACE = "no certificate"
USUAL = ("http.client", "httpx")


class PassingTests(SynchronousTestCase):
    """One library at a time."""

    def setUp(self) -> None:
        folder = Path(self.mktemp()).absolute()
        ca = self.certificate(folder / "server")
        other, client = self.certificate(folder / "other"), self.certificate(folder / "client")
        self.servers = {
            "http": MisbehavingServer(),
            "https": MisbehavingServer(tls(ca, "http/1.1")),
            "locked": MisbehavingServer(tls(ca, clients=client)),
            "h2": MisbehavingServer(tls(ca, "h2")),
            "tls 1.2": MisbehavingServer(only(tls(ca), ssl.TLSVersion.TLSv1_2)),
            "tls 1.3": MisbehavingServer(only(tls(ca), ssl.TLSVersion.TLSv1_3)),
        }
        running = ExitStack()
        self.addCleanup(running.close)
        for server in self.servers.values():
            running.enter_context(server.running())
        files = {"ca": str(ca), "other": str(other), "client": str(client), "pin": fingerprint(ca)}
        self.plan = {name: server.port for name, server in self.servers.items()} | files
        self.proxy = start_proxy("--ca-dir", str(folder / "authority"))
        self.addCleanup(self.proxy.stop)

    def certificate(self, folder: Path) -> Path:
        folder.mkdir(parents=True)
        return write_certificate(folder)

    def outcomes(self, library: str, variables: dict[str, str]) -> dict[str, Any]:
        """Return what a library sees, and what the servers do."""
        for server in self.servers.values():
            server.read.clear()
            server.connections = 0
        done = subprocess.run(
            [sys.executable, str(PROGRAM), library, json.dumps(self.plan)],
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
            env={**clean(), **variables},
        )
        found: dict[str, Any] = dict(map(json.loads, done.stdout.splitlines()))
        for name, server in self.servers.items():
            found[f"requests of {name}"] = server.heads()
            found[f"connections of {name}"] = server.connections
        return found

    def compare(self, library: str) -> None:
        alone = self.outcomes(library, {})
        variables = {"PYTHONPATH": str(DIRECTORY), "TRAFFICMOCK_PROXY_URL": self.proxy.url}
        attached = self.outcomes(library, variables)
        read = b"".join(each for server in self.servers.values() for each in server.read)
        self.assertNotIn(b"trafficmock-", read.lower())
        seen = {each["request"]["method"] for each in self.proxy.get("/api/history")["entries"]}
        self.assertLessEqual({each.upper() for each in calls.METHODS}, {*map(str.upper, seen)})
        changed = [
            f"{name}: {alone[name]} is {attached.get(name)}"
            for name in alone
            if told(alone[name]) != told(attached.get(name))
            and (name != RACE or attached[name][0][0] == OK)
        ]
        self.assertEqual(changed, [], "\n".join(changed))


def only(context: ssl.SSLContext, version: ssl.TLSVersion) -> ssl.SSLContext:
    """Let a server speak one version of TLS, and some ciphers in 1.2."""
    context.minimum_version = context.maximum_version = version
    context.set_ciphers("ECDHE+AESGCM")
    return context


def told(outcome: Any) -> Any:
    """Return what has to be the same: the classes of an error, not its text.

    Which class of ``ssl`` the end of TLS raises depends on what comes first, and without a client
    certificate any error may be raised.
    """
    if not isinstance(outcome, list):
        return outcome
    return [
        each
        if not isinstance(each, list) or each[0] == OK
        else [re.sub(r"ssl\..*", "ssl", name) for name in each[:-1]]
        for each in outcome
    ]


for _library in calls.LIBRARIES:

    def _test(self: PassingTests, library: str = _library) -> None:
        self.compare(library)

    if _library == "botocore" and find_spec(_library) is None:
        _test.skip = "botocore is not installed"  # type: ignore[attr-defined]
    elif not DEEP and _library not in USUAL:
        _test.skip = "the deep lane compares all libraries"  # type: ignore[attr-defined]
    setattr(PassingTests, f"test_{_library.replace('.', '_').replace(', ', '_')}", _test)
