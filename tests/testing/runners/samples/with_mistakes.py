"""Run by pytest as a child: mistakes that people make, to see what is printed."""

import os
from typing import Any

import pytest

from tests.testing.row_context import control
from trafficmock.testing import sync

APP, UPSTREAM = os.environ.get("SAMPLE_APP", ""), os.environ.get("SAMPLE_UPSTREAM", "")


def get(page: str) -> Any:
    return control(APP, "request", {"kind": "http", "url": f"{UPSTREAM}/{page}"})


@pytest.fixture
def broken_fixture(trafficmock: Any) -> None:
    get("json/in-the-fixture")
    raise RuntimeError("on purpose")


def test_fixture(broken_fixture: None) -> None:
    """Never begins."""


def test_too_late(trafficmock: Any) -> None:
    get("json/late")
    get("json/late?page=2")
    get("json/other")
    trafficmock.wait_for_request("**/json/late", timeout=100)


def test_parts(trafficmock: Any) -> None:
    with trafficmock.expect_request("http://payments.test/json/late?page=2", timeout=100):
        get("json/late")


def test_status(trafficmock: Any) -> None:
    trafficmock.mock("**/json/status", status=99)


def test_two_decisions(trafficmock: Any) -> None:
    def twice(route: Any) -> None:
        route.fulfill(body="one")
        route.fulfill(body="two")

    trafficmock.route("**/json/twice", twice)
    assert get("json/twice")["body"] == "one"


def test_handler_only(trafficmock: Any) -> None:
    trafficmock.route("**/json/broken", lambda route: route.request.post_data_json["amount"])
    get("json/broken")


def test_two_tests(trafficmock: Any) -> None:
    with sync.mocks(title="test_other", file="tests/other.py") as other:
        other.route("**/json/*", lambda route: route.fulfill(body="other"))
        trafficmock.route("**/json/both", lambda route: route.fulfill(body="this"))
        get("json/both")
        other.take_errors()


def test_no_handler(trafficmock: Any) -> None:
    trafficmock.route("**/json/x", {"json": {}})


def test_braces(trafficmock: Any) -> None:
    trafficmock.route("**/{a,b", lambda route: route.abort())
