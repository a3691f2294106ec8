"""Starts a proxy for tests that name none."""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import frozen

from trafficmock.attach import agent_variables
from trafficmock.testing.errors import ConnectionLostError
from trafficmock.testing.launch import lease

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

START_SECONDS = 60.0
STOP_SECONDS = 5.0
_POLL_SECONDS = 0.02
_STARTED: list[subprocess.Popen[bytes]] = []
"""Kept, because Python warns of a process whose object is gone."""


@frozen
class Proxy:
    """A proxy that can be reached.

    :param token: what lets clients in, if one is needed.
    :param pid: of the process, if it was started here.
    """

    url: str
    token: str | None = None
    pid: int | None = None

    def environment(
        self,
        client_id: str | None = None,
        *,
        base: Mapping[str, str] | None = None,
        agent: bool = True,
        forward_proxy: bool = True,
    ) -> dict[str, str]:
        """Make the whole environment in which an application runs attached, in any language.

        It is what ``trafficmock run`` gives to a command: for ``env=`` of
        :class:`subprocess.Popen`, without anything else. Node processes load the agent, others
        use the forward proxy and trust its certificates.

        :param client_id: how routes tell it from other applications.
        :param base: the environment to start from, by default that of this process; its
            settings are kept where they can be.
        :param agent: ``False`` leaves the Node agent out, for an application that brings the
            npm agent, and where there is neither Node nor the agent.
        :param forward_proxy: ``False`` leaves the proxy variables and certificates out.
        :raises AttachError: the Node agent is missing, or the proxy does not answer.
        :raises CertificateError: certificates cannot be kept in the user's data directory.
        """
        from trafficmock.attach.environment import Attachment  # noqa: PLC0415 - only where it is needed
        from trafficmock.attach.node import find_preload  # noqa: PLC0415

        return Attachment.of(
            os.environ if base is None else base,
            url=self.url,
            token=self.token,
            client_id=client_id,
            preload=find_preload(Path.cwd().resolve()) if agent else None,
            forward_proxy=forward_proxy,
        ).environment()

    def stop(self) -> None:
        """End the process, if it was started here."""
        if self.pid is not None:
            _end(self.pid, self.url)


def start_proxy(
    token: str | None = None,
    leased: Path | None = None,
    *,
    strict: bool = False,
    allow: Iterable[str] = (),
) -> Proxy:
    """Start a proxy on a free loopback port and wait until it serves.

    It is in a session of its own: Ctrl-C ends the tests first, and they end it. It ends by
    itself when they were killed.

    :param token: what clients must show.
    :param leased: the file that the processes which need the proxy hold; without one, this
        process alone.
    :param strict: refuse every request that no test wants, from the beginning.
    :param allow: hosts and URL globs that may be reached all the same.
    :raises ConnectionLostError: it does not come up; the text has its output.
    """
    environment = dict(os.environ)
    environment.pop("TRAFFICMOCK_TOKEN", None)
    if token is not None:
        environment["TRAFFICMOCK_TOKEN"] = token
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryFile() as log:
        ready, held = Path(directory) / "ready.json", leased or Path(directory) / "lease"
        lease.hold(held)
        argv = [sys.executable, "-m", "trafficmock.testing.launch.leased_proxy", str(held), "serve"]
        argv += ["--port", "0", "--ready-file", str(ready), "--log-level", "warn"]
        argv += ["--strict"] if strict else []
        argv += [part for pattern in allow for part in ("--allow", pattern)]
        process = subprocess.Popen(  # noqa: S603 - our own command
            argv, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        deadline = time.monotonic() + START_SECONDS
        while not ready.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                log.seek(0)
                output = log.read().decode(errors="replace")
                raise ConnectionLostError(f"the proxy did not come up:\n{output}")
            time.sleep(_POLL_SECONDS)
        url = json.loads(ready.read_text())["url"]
    _STARTED.append(process)
    return Proxy(url=url, token=token, pid=process.pid)


def given_proxy() -> Proxy | None:
    """Find the proxy that the environment names."""
    url = agent_variables.proxy_url()
    return None if url is None else Proxy(url, agent_variables.proxy_token())


@functools.cache
def process_proxy() -> Proxy:
    """Give the proxy of this process: the environment's, or one that ends with the process."""
    proxy = given_proxy()
    if proxy is None:
        proxy = start_proxy()
        atexit.register(proxy.stop)
    return proxy


def _end(pid: int, url: str) -> None:
    """Ask a process to end, insist after a while; it may be another process's child."""
    deadline = time.monotonic() + STOP_SECONDS
    try:
        os.kill(pid, signal.SIGTERM)
        while not _has_ended(pid, url):
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
                return
            time.sleep(_POLL_SECONDS)
    except ProcessLookupError:
        return


def _has_ended(pid: int, url: str) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG) != (0, 0)
    except ChildProcessError:
        return not listens(url)


def listens(url: str) -> bool:
    """Tell whether a proxy still takes connections; who its parent is does not matter here."""
    place = urlsplit(url)
    try:
        socket.create_connection((place.hostname, place.port), timeout=STOP_SECONDS).close()
    except OSError:
        return False
    return True
