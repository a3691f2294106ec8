"""Starts a worker, attached, as it is started without tests."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

import pytest

os.environ["QUEUE"] = tempfile.mkdtemp()


@pytest.fixture(scope="session", autouse=True)
def worker(trafficmock_env: Callable[..., dict[str, str]]) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", "--app", "shop", "worker", "--pool", "solo"],
        env=trafficmock_env(client_id="worker"),
    )
    yield
    process.terminate()
    process.wait()
