"""Starts a proxy process for tests that do not name a proxy."""

from __future__ import annotations

import atexit
import functools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from attrs import field, frozen

from trafficmock.attach import agent_variables
from trafficmock.testing.errors import ConnectionLostError
from trafficmock.testing.keywords import checks_keywords
from trafficmock.testing.launch import lease, processes

START_SECONDS = 60.0
STOP_SECONDS = 5.0
_POLL_SECONDS = 0.02
_STARTED: list[subprocess.Popen[bytes]] = []
"""Kept, because Python warns when the object of a running process is collected."""


@frozen
class Proxy:
    """The address of a proxy.

    :param url: the URL, such as ``http://127.0.0.1:4310``.
    :param token: the token that clients must send, if it wants one.
    :param pid: the id of its process, if the tests started it.
    """

    url: str
    token: str | None = field(default=None, repr=False)
    pid: int | None = None

    @checks_keywords
    def environment(
        self,
        client_id: str | None = None,
        *,
        base: Mapping[str, str] | None = None,
        agent: bool = True,
        forward_proxy: bool = True,
    ) -> dict[str, str]:
        """Return the environment in which an application of any language runs attached.

        It is the whole environment, for ``env=`` of :class:`subprocess.Popen`, as ``trafficmock
        run`` gives it to a command. Node processes load the agent; others use the forward proxy and
        trust its certificates.

        :param client_id: the name of the application, for the ``client_id`` of routes.
        :param base: the environment to start from, by default that of this process. Its settings
            are kept where they do not conflict.
        :param agent: ``False`` leaves the Node agent out: for an application with the npm agent,
            or on a machine without the agent.
        :param forward_proxy: ``False`` leaves out the variables of the forward proxy and of its
            certificates; the agents for Node and Python need neither.
        :raises AttachError: the Node agent is missing, or the proxy does not answer.
        :raises CertificateError: the user's data directory cannot store the certificates.
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
        """End the process: it is asked to, and killed after 5 s; nothing without a ``pid``."""
        if self.pid is not None:
            _end(self.pid, self.url)


@checks_keywords
def start_proxy(
    token: str | None = None,
    leased: Path | None = None,
    *,
    strict: bool = False,
    allow: Iterable[str] = (),
    options: Sequence[str] = (),
) -> Proxy:
    """Start a proxy on a free loopback port and wait until it serves.

    It runs in a session of its own, so Ctrl-C does not reach it: the tests end it. If they are
    killed, it ends by itself.

    :param token: the token that clients must send.
    :param leased: the lease file of the processes that use the proxy; by default only this process
        uses it.
    :param strict: refuse requests that no route matches, from the start.
    :param allow: hosts and URL globs that strict mode lets through.
    :param options: more options of ``trafficmock serve``, such as ``["--history-limit", "5000"]``.
    :raises ConnectionLostError: the proxy does not serve within 60 s, or it ended, for example
        for an invalid option; the text has its output.
    """
    environment = dict(os.environ)
    environment.pop("TRAFFICMOCK_TOKEN", None)
    if token is not None:
        environment["TRAFFICMOCK_TOKEN"] = token
    # Windows cannot remove the lease, which the proxy has open.
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=sys.platform == "win32")
    with folder as directory, tempfile.TemporaryFile() as log:
        ready, lease_file = Path(directory) / "ready.json", leased or Path(directory) / "lease"
        lease.hold(lease_file)
        argv = [
            sys.executable,
            "-m",
            "trafficmock.testing.launch.leased_proxy",
            str(lease_file),
            "serve",
        ]
        argv += ["--port", "0", "--log-level", "warn", *options, "--ready-file", str(ready)]
        argv += ["--strict"] if strict else []
        argv += [part for pattern in allow for part in ("--allow", pattern)]
        process = subprocess.Popen(  # noqa: S603 - our own command
            argv, env=environment, stdout=log, stderr=log, **processes.own_group()
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
    """Return the proxy that the environment names (``TRAFFICMOCK_PROXY_URL``), if any."""
    url = agent_variables.proxy_url()
    return None if url is None else Proxy(url, agent_variables.proxy_token())


@functools.cache
def process_proxy(*options: str) -> Proxy:
    """Return the proxy of this process: the one that the environment names, else a new one.

    The first call starts it; it ends with this process.

    :param options: options of ``trafficmock serve`` for a new one. Calls with the same options get
        the same proxy.
    :raises ConnectionLostError: the proxy does not come up.
    """
    proxy = given_proxy()
    if proxy is None:
        proxy = start_proxy(options=options)
        atexit.register(proxy.stop)
    return proxy


def _end(pid: int, url: str) -> None:
    """End a process, which may be the child of another one; kill it after ``STOP_SECONDS``."""
    deadline = time.monotonic() + STOP_SECONDS
    try:
        processes.terminate(pid)
        while not _has_ended(pid, url):
            if time.monotonic() > deadline:
                processes.kill(pid)
                return
            time.sleep(_POLL_SECONDS)
    except ProcessLookupError:
        return


def _has_ended(pid: int, url: str) -> bool:
    try:
        return processes.reaped(pid)
    except ChildProcessError:
        return not listens(url)


def listens(url: str) -> bool:
    """Return whether something accepts connections at a URL."""
    place = urlsplit(url)
    port = place.port or (443 if place.scheme == "https" else 80)
    try:
        socket.create_connection((place.hostname, port), timeout=STOP_SECONDS).close()
    except OSError:
        return False
    return True
