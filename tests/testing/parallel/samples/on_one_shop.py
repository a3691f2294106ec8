"""Run by pytest-playwright with several workers: the pages of all tests use one shop."""

import os
import uuid
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.processes.node_parts import chromium
from trafficmock.testing.sync import TrafficMock

COUNT = int(os.environ.get("SAMPLE_COUNT", "5"))
MOST_MS = 300_000
"""No step waits for time: eight browsers on a busy machine may each take very long."""


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    arguments = ["--no-sandbox", "--disable-gpu"]
    return {"executable_path": chromium(), "args": arguments, "timeout": MOST_MS}


@pytest.mark.parametrize("number", range(COUNT))
def test_receipt(page: Page, trafficmock: TrafficMock, number: int) -> None:
    page.set_default_timeout(MOST_MS)
    receipt = f"{number}-{uuid.uuid4()}"
    trafficmock.route("**/charges", lambda route: route.fulfill(json={"receipt": receipt}))
    page.goto("/")
    page.click("text=Buy the teapot")
    said = page.locator("#said")
    expect(said).not_to_be_empty(timeout=MOST_MS)
    assert said.inner_text() == f"Thank you! Receipt {receipt}."
