"""Tests of an application that writes a lot, and of ones that do not start."""

import re
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

FLOOD = Path(__file__).parents[2] / "applications" / "flood.py"


@pytest.fixture(scope="session")
def shop(trafficmock_app: Any) -> str:
    started = trafficmock_app(
        [sys.executable, FLOOD, "{port}"], ready="http://127.0.0.1:{port}/1", client_id="shop"
    )
    return str(started.url.removesuffix("/1"))


@pytest.fixture(scope="session")
def broken(trafficmock_app: Any) -> Any:
    return trafficmock_app([sys.executable, "-c", "import no_such_module"], ready=re.compile("x"))


def get(url: str) -> None:
    urllib.request.urlopen(url, timeout=30).close()


@pytest.mark.parametrize("number", range(3))
def test_flood(shop: str, number: int) -> None:
    get(f"{shop}/1000000")


def test_fails(shop: str) -> None:
    get(f"{shop}/missing")


def test_fails_without_it(shop: str) -> None:
    raise AssertionError("on purpose")


def test_broken(broken: Any) -> None:
    """Not run."""
