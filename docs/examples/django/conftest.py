"""Starts the application, attached, as it is started without tests."""

import sys
from collections.abc import Callable

import pytest

from trafficmock.testing.launch import Application

DJANGO = [sys.executable, "manage.py", "runserver", "--noreload", "{port}"]


@pytest.fixture(scope="session")
def shop(trafficmock_app: Callable[..., Application]) -> str:
    return trafficmock_app(DJANGO, ready="http://127.0.0.1:{port}", client_id="shop").url
