"""Tests of an application that is never ready, and notes each of its starts."""

import sys
from typing import Any

import pytest

CODE = """
import os, pathlib, time
pathlib.Path(os.environ["SEEN"], f"{os.getpid()}.start").touch()
time.sleep(60)
"""


@pytest.fixture(scope="session")
def shop(trafficmock_app: Any) -> Any:
    command = [sys.executable, "-c", CODE, "{port}"]
    return trafficmock_app(command, ready="http://127.0.0.1:{port}/", timeout=2)


@pytest.mark.parametrize("number", range(6))
def test_shared(shop: Any, number: int) -> None:
    """Fails, because of the application."""
