"""Run by pytest-playwright: a browser that was started with a proxy."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.support.processes.node_parts import chromium
from trafficmock.testing.sync import TrafficMock


@pytest.fixture(scope="session")
def trafficmock_origins() -> tuple[str, ...]:
    return ("http://shop.test",)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    arguments = ["--no-sandbox", "--disable-gpu"]
    proxy = {"server": "http://127.0.0.1:9"}
    return {"executable_path": chromium(), "args": arguments, "proxy": proxy}


@pytest.mark.parametrize("number", range(2))
def test_cookie(page: Page, trafficmock: TrafficMock, number: int) -> None:
    assert number in range(2)
    (cookie,) = page.context.cookies()
    assert (cookie.get("value"), cookie.get("domain")) == (trafficmock.id, "shop.test")
