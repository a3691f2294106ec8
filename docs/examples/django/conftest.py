"""Starts the application, attached, as it is started without tests."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest


@pytest.fixture(scope="session")
def shop(trafficmock_env: Callable[..., dict[str, str]]) -> Iterator[str]:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "manage.py", "runserver", "--noreload", str(port)],
        env=trafficmock_env(client_id="shop"),
    )
    while socket.socket().connect_ex(("127.0.0.1", port)):
        assert process.poll() is None
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait()
