"""Starts the application, attached, as it is started without tests."""

import re
import sys
from collections.abc import Callable

import pytest

from trafficmock.testing.launch import Application

FLASK = [sys.executable, "-m", "flask", "--app", "quotes", "run", "--port", "0"]


@pytest.fixture(scope="session")
def quotes(trafficmock_app: Callable[..., Application]) -> str:
    ready = re.compile(r"Running on (http://\S+)")
    return trafficmock_app(FLASK, ready=ready, client_id="quotes").url
