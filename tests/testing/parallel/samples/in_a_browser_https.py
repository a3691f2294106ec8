"""Run by pytest-playwright with two workers: an application on https, for all of them."""

import json
import os
import uuid
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

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


def test_state_of_another_test(
    browser: Browser, page: Page, trafficmock: TrafficMock, tmp_path: Path
) -> None:
    """A saved state brings its cookies, but not the context of the test that saved it."""
    trafficmock.route("http://prices.test/*", lambda route: route.fulfill(body="mine"))
    page.goto(APP)
    saved = page.context.storage_state()
    (own,) = saved["cookies"]
    saved["cookies"] = [
        {**own, "value": uuid.uuid4().hex},
        {**own, "value": uuid.uuid4().hex, "domain": "localhost"},
        {**own, "name": "session", "value": "kept"},
    ]
    file = tmp_path / "state.json"
    file.write_text(json.dumps(saved))
    context = browser.new_context(storage_state=file, ignore_https_errors=True)
    assert context.request.get(f"{APP}/price", timeout=MOST_MS).text() == "mine"
    values = sorted((each["name"], each["value"]) for each in context.cookies())
    assert values == [("session", "kept"), ("trafficmock_test", trafficmock.id)]
    context.close()
