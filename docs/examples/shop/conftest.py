"""Fixtures of the pytest tests: the shop, and Debian's Chromium."""

from collections.abc import Iterator
from typing import Any

import pytest
from shop_process import Shop


@pytest.fixture(scope="session")
def shop(trafficmock_proxy: Any) -> Iterator[Shop]:
    started = Shop(trafficmock_proxy)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    return {"executable_path": "/usr/bin/chromium", "args": ["--no-sandbox", "--disable-gpu"]}
