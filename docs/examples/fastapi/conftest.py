"""Starts the application, attached, as it is started without tests."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

RUNNING = re.compile(r"Uvicorn running on (http://\S+)")


@pytest.fixture(scope="session")
def shop(trafficmock_env: Callable[..., dict[str, str]]) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "app:app", "--port", "0"],
        env=trafficmock_env(client_id="shop"),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    yield next(found[1] for line in process.stderr if (found := RUNNING.search(line)))
    process.terminate()
    process.communicate()
