"""Starts a worker, attached, as it is started without tests."""

import os
import re
import sys
import tempfile
from collections.abc import Callable

import pytest

from trafficmock.testing.launch import Application

os.environ["QUEUE"] = tempfile.mkdtemp()

CELERY = [
    *(sys.executable, "-m", "celery", "--app", "shop", "worker"),
    *("--pool", "solo", "--loglevel", "INFO"),
]


@pytest.fixture(scope="session", autouse=True)
def worker(trafficmock_app: Callable[..., Application]) -> None:
    trafficmock_app(CELERY, ready=re.compile(r"ready\."), client_id="worker")
