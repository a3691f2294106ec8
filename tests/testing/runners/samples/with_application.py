"""Tests of an application that writes a lot, and of ones that do not start."""

import re
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

FLOOD = Path(__file__).parents[2] / "applications" / "flood.py"


@pytest.fixture(scope="session")
def started(trafficmock_app: Any) -> Any:
    return trafficmock_app(
        [sys.executable, FLOOD, "{port}"], ready="http://127.0.0.1:{port}/1", client_id="shop"
    )


@pytest.fixture(scope="session")
def shop(started: Any) -> str:
    return str(started.url.removesuffix("/1"))


@pytest.fixture(scope="session")
def broken(trafficmock_app: Any) -> Any:
    return trafficmock_app([sys.executable, "-c", "import no_such_module"], ready=re.compile("x"))


def get(url: str) -> None:
    urllib.request.urlopen(url, timeout=30).close()


@pytest.mark.parametrize("number", range(3))
def test_flood(shop: str, started: Any, number: int) -> None:
    get(f"{shop}/1000000")
    # Its output is read in another thread; what is left would be of the next test.
    end = time.monotonic() + 30
    while '"GET /1000000 ' not in started.new_output():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_fails(shop: str) -> None:
    get(f"{shop}/missing")


def test_fails_without_it(shop: str) -> None:
    raise AssertionError("on purpose")


def test_broken(broken: Any) -> None:
    """Not run."""
