"""Run by pytest as a child: what the plugin offers, and how failures look."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.testing.row_context import control

APP, UPSTREAM = os.environ.get("SAMPLE_APP", ""), os.environ.get("SAMPLE_UPSTREAM", "")


def get(page: str) -> Any:
    return control(APP, "request", {"kind": "http", "url": f"{UPSTREAM}/{page}"})


@pytest.fixture(scope="session")
def trafficmock_base_url() -> str:
    return UPSTREAM


def test_base_url(trafficmock: Any) -> None:
    trafficmock.route("/json/based", lambda route, _: route.fulfill(body="based"))
    with trafficmock.expect_response("/json/based") as info:
        assert get("json/based")["body"] == "based"
    assert info.value.text() == "based"


def test_plain(trafficmock: Any) -> None:
    trafficmock.route("**/json/plain", lambda route, _: route.fulfill(body="plain"))
    assert get("json/plain")["body"] == "plain"


@pytest.mark.asyncio
async def test_coroutine(trafficmock: Any) -> None:
    loop = asyncio.get_running_loop()

    async def handler(route: Any, request: Any) -> None:
        assert asyncio.get_running_loop() is loop
        await route.fulfill(body="async")

    await trafficmock.route("**/json/async", handler)
    async with trafficmock.expect_request("**/json/async") as info:
        assert (await asyncio.to_thread(get, "json/async"))["body"] == "async"
    assert (await info.value).method == "GET"


def test_that_fails(trafficmock: Any) -> None:
    trafficmock.route("**/json/owned", lambda route, _: route.fulfill(body="plain"))
    trafficmock.route("**/json/unmet", lambda route, _: route.abort())
    get("json/owned")
    get("json/passed")
    control(APP, "request", {"kind": "http", "url": "http://127.0.0.1:1/refused"})
    raise AssertionError("on purpose")


def test_whose_handler_fails(trafficmock: Any) -> None:
    def broken(route: Any, request: Any) -> None:
        raise ValueError("in the handler")

    trafficmock.route("**/json/broken", broken)
    get("json/broken")


def test_whose_errors_are_taken(trafficmock: Any) -> None:
    def broken(route: Any, request: Any) -> None:
        raise ValueError("in the handler")

    trafficmock.route("**/json/broken", broken)
    get("json/broken")
    assert len(trafficmock.take_errors()) == 1


def test_browser_proxy(
    trafficmock_browser_proxy: Any, trafficmock_door: Any, trafficmock: Any
) -> None:
    assert trafficmock_browser_proxy == trafficmock_door == trafficmock.proxy
    assert trafficmock_browser_proxy["server"].startswith("http://127.0.0.1:")


@pytest.mark.parametrize("number", range(4))
def test_proxy(trafficmock_proxy: Any, trafficmock_env: Any, trafficmock: Any, number: int) -> None:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    note = Path(os.environ["SAMPLE_NOTES"]) / f"{worker}-{number}"
    note.write_text(f"{trafficmock_proxy.url} {trafficmock_proxy.pid} {trafficmock_proxy.token}")
    env = trafficmock_env(client_id="shop")
    assert env["TRAFFICMOCK_PROXY_URL"] == trafficmock_proxy.url
    assert env["TRAFFICMOCK_CLIENT_ID"] == "shop"
    assert trafficmock.requests() == []
