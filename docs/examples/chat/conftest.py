"""Starts the application, attached, and takes Debian's Chromium where there is one."""

import re
import sys
from collections.abc import Callable
from shutil import which
from typing import Any

import pytest

from trafficmock.testing.launch import Application

UVICORN = [sys.executable, "-m", "uvicorn", "app:app", "--port", "0"]
DEBIAN = which("chromium-headless-shell") or which("chromium")


@pytest.fixture(scope="session")
def base_url(trafficmock_app: Callable[..., Application]) -> str:
    ready = re.compile(r"Uvicorn running on (http://\S+)")
    return trafficmock_app(UVICORN, ready=ready, client_id="chat").url


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    if DEBIAN is None:
        return browser_type_launch_args
    return {**browser_type_launch_args, "executable_path": DEBIAN, "args": ["--no-sandbox"]}
