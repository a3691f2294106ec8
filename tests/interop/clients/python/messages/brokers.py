"""Brokers on loopback, each until its block ends."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.processes.child_process import Child
from tests.support.processes.proxy_process import free_port

REDIS = shutil.which("redis-server")
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
HOST = "127.0.0.1"


@contextmanager
def broker(
    name: str, command: Sequence[str], port: int, env: Mapping[str, str] | None = None
) -> Iterator[Child]:
    """Start a server, and wait until it listens on its port."""
    child = Child.start(name, command, env=env or {}, announces=False)
    try:
        child.until(lambda: _listens(port), "port")
        yield child
    finally:
        child.stop()


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False


@contextmanager
def redis() -> Iterator[str]:
    """Start Redis; the value is its URL without a database."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        options = ("--port", str(port), "--bind", HOST, "--save", "", "--dir", folder)
        with broker("redis", [str(REDIS), *options], port):
            yield f"redis://{HOST}:{port}"


@contextmanager
def aws(python: str) -> Iterator[str]:
    """Start a server that speaks the APIs of SQS and SNS; the value is its URL.

    :param python: has ``moto``.
    """
    port = free_port()
    with broker("moto", [python, "-m", "moto.server", "-H", HOST, "-p", str(port)], port):
        yield f"http://{HOST}:{port}"


@contextmanager
def rabbitmq() -> Iterator[str]:
    """Start RabbitMQ with a port mapper of its own; the value is its URL."""
    port, mapper = free_port(), str(free_port())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        env = {
            "HOME": folder,
            "ERL_EPMD_ADDRESS": HOST,
            "ERL_EPMD_PORT": mapper,
            "RABBITMQ_NODENAME": f"trafficmock-{port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": HOST,
            "RABBITMQ_NODE_PORT": str(port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": folder,
            "RABBITMQ_LOG_BASE": folder,
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(Path(folder) / "plugins"),
            "RABBITMQ_CONF_ENV_FILE": str(Path(folder) / "none.conf"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }
        try:
            with broker("rabbitmq", [str(RABBITMQ)], port, env):
                yield f"amqp://guest:guest@{HOST}:{port}"
        finally:
            # The mapper outlives the broker that has started it.
            stop = ["epmd", "-port", mapper, "-kill"]
            subprocess.run(stop, env={**os.environ, **env}, check=False, capture_output=True)
