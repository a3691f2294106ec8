"""Run by pytest-playwright with several workers: the pages of all tests use one shop."""

import os
import uuid
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.node_parts import chromium
from trafficmock.testing.sync import TrafficMock

COUNT = int(os.environ.get("SAMPLE_COUNT", "5"))


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    return {"executable_path": chromium(), "args": ["--no-sandbox", "--disable-gpu"]}


@pytest.mark.parametrize("number", range(COUNT))
def test_receipt(page: Page, trafficmock: TrafficMock, number: int) -> None:
    receipt = f"{number}-{uuid.uuid4()}"
    trafficmock.route("**/charges", lambda route: route.fulfill(json={"receipt": receipt}))
    page.goto("/")
    page.click("text=Buy the teapot")
    expect(page.locator("#said")).to_have_text(f"Thank you! Receipt {receipt}.", timeout=60_000)
