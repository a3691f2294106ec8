"""Run by pytest-playwright with two workers: an application on https, for all of them."""

import os
import uuid
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.processes.node_parts import chromium
from trafficmock.testing.sync import TrafficMock

APP = os.environ.get("SAMPLE_APP", "")
MOST_MS = 300_000
"""A busy machine may take very long for each step."""


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    arguments = ["--no-sandbox", "--disable-gpu"]
    return {"executable_path": chromium(), "args": arguments, "timeout": MOST_MS}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_context_args, "ignore_https_errors": True}


@pytest.mark.parametrize("number", range(6))
def test_own_answer(page: Page, trafficmock: TrafficMock, number: int) -> None:
    page.set_default_timeout(MOST_MS)
    mark = f"{number}-{uuid.uuid4()}"
    trafficmock.route("http://prices.test/*", lambda route: route.fulfill(body=mark))
    page.goto(APP)
    said = page.locator("#said")
    expect(said).not_to_be_empty(timeout=MOST_MS)
    assert said.inner_text() == mark
    assert page.request.get(f"{APP}/price").text() == mark
    (cookie,) = page.context.cookies()
    assert (cookie["name"], cookie["value"]) == ("trafficmock_test", trafficmock.id)
    assert (cookie["secure"], cookie["httpOnly"]) == (True, True)
