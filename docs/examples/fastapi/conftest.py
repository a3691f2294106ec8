"""Starts the application, attached, as it is started without tests."""

import re
import sys
from collections.abc import Callable

import pytest

from trafficmock.testing.launch import Application

UVICORN = [sys.executable, "-m", "uvicorn", "app:app", "--port", "0"]


@pytest.fixture(scope="session")
def shop(trafficmock_app: Callable[..., Application]) -> str:
    ready = re.compile(r"Uvicorn running on (http://\S+)")
    return trafficmock_app(UVICORN, ready=ready, client_id="shop").url
