"""Fixtures of the pytest tests: the shop, and Debian's Chromium where there is one."""

from collections.abc import Iterator
from shutil import which
from typing import Any

import pytest
from shop_process import Shop

DEBIAN = which("chromium-headless-shell") or which("chromium")


@pytest.fixture(scope="session")
def shop(trafficmock_proxy: Any) -> Iterator[Shop]:
    started = Shop(trafficmock_proxy)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    if DEBIAN is None:
        return browser_type_launch_args
    args = ["--no-sandbox", "--disable-gpu"]
    return {**browser_type_launch_args, "executable_path": DEBIAN, "args": args}
