"""Starts the Python application, attached."""

import re
import sys
from collections.abc import Callable

import pytest

from trafficmock.testing.launch import Application

FLASK = [sys.executable, "-m", "flask", "--app", "stock", "run", "--port", "0"]


@pytest.fixture(scope="session")
def stock(trafficmock_app: Callable[..., Application]) -> str:
    ready = re.compile(r"Running on (http://\S+)")
    return trafficmock_app(FLASK, ready=ready, client_id="stock").url
