"""Starts the application, attached, as it is started without tests."""

import re
import sys
from collections.abc import Callable

import pytest

from trafficmock.testing.launch import Application

FLASK = [sys.executable, "-m", "flask", "--app", "app", "run", "--port", "0"]


@pytest.fixture(scope="session")
def shop(trafficmock_app: Callable[..., Application]) -> str:
    ready = re.compile(r"Running on (http://\S+)")
    return trafficmock_app(FLASK, ready=ready, client_id="shop").url
