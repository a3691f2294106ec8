"""Run by pytest as a child: where errors of handlers are counted, and of which test."""

import queue
import threading
from typing import Any

import pytest

from tests.testing.runners.samples.with_pytest import get


def broken(route: Any) -> None:
    raise ValueError("in the handler")


@pytest.fixture(scope="session", autouse=True)
def shared_routes(trafficmock_shared: Any) -> None:
    trafficmock_shared.route("**/json/shared", broken)


def test_of_a_shared_handler() -> None:
    get("json/shared")


def test_of_nobody(trafficmock: Any) -> None:
    get("json/own")


def test_that_fails_too(trafficmock: Any) -> None:
    trafficmock.route("**/json/broken", broken)
    get("json/broken")
    raise AssertionError("on purpose")


def test_that_holds_a_route(trafficmock: Any) -> None:
    kept: queue.Queue[Any] = queue.Queue()
    trafficmock.route("**/json/held", kept.put)
    threading.Thread(target=get, args=("json/held",), daemon=True).start()
    route = kept.get(timeout=10)
    assert route.request.url.endswith("/json/held")
    raise AssertionError("on purpose")


@pytest.fixture
def late() -> Any:
    yield
    get("json/shared")


def test_of_a_teardown(late: None) -> None:
    """A shared handler fails after it."""


@pytest.mark.xfail
def test_expected(trafficmock: Any) -> None:
    get("json/shared")
    raise AssertionError("on purpose")
