"""Run by pytest as a child, which is strict or not: what is refused, and whom it fails."""

import os
import re
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, build_opener

import pytest

from trafficmock.testing.sync import TrafficMock

APP = os.environ.get("SAMPLE_APP", "")
PAY = "http://pay.test/v1/charges"
REFUSED = "ERR_TRAFFICMOCK_UNMATCHED_REQUEST"


def ask(target: str, mocks: TrafficMock | None = None, method: str = "GET") -> str:
    """Let the application ask a service, with the context of a test or without one."""
    headers = {} if mocks is None else mocks.headers
    url = f"{APP}/ask?{urlencode({'target': target, 'method': method})}"
    with build_opener().open(Request(url, headers=headers), timeout=60) as answer:
        body: str = answer.read().decode()
        return body


def answer(route: Any) -> None:
    route.fulfill(body="mocked")


def test_mocked(trafficmock: TrafficMock) -> None:
    trafficmock.route(PAY, answer)
    assert ask(PAY, trafficmock) == "mocked"


@pytest.mark.trafficmock(allow=["pay.test"])
def test_allowed(trafficmock: TrafficMock) -> None:
    assert "ENOTFOUND" in ask(PAY, trafficmock)


@pytest.mark.trafficmock(strict=False)
def test_exempt(trafficmock: TrafficMock) -> None:
    assert "ENOTFOUND" in ask(PAY, trafficmock)


def test_often(trafficmock: TrafficMock) -> None:
    for _ in range(3):
        ask(PAY, trafficmock)


@pytest.mark.trafficmock(strcit=True)
def test_misspelled() -> None:
    """It does not begin."""


def test_of_nobody() -> None:
    ask("http://nobody.test/")


Options = dict[str, Any]
ROUTES: dict[str, tuple[Any, Options]] = {
    "method": (PAY, {"method": "POST"}),
    "host": (PAY.replace(".test", ".example"), {}),
    "port": (PAY.replace(".test", ".test:8080"), {}),
    "path": ("**/v1/charge", {}),
    "query": (f"{PAY}?x=1", {}),
    "client": (PAY, {"client_id": "other"}),
    "predicate": (lambda _: False, {}),
    "regex": (re.compile("charge$"), {}),
}


@pytest.mark.parametrize("differs", ROUTES)
def test_nearly(trafficmock: TrafficMock, differs: str) -> None:
    url, options = ROUTES[differs]
    trafficmock.route(url, answer, **options)
    ask(PAY, trafficmock)


def test_no_route(trafficmock: TrafficMock) -> None:
    """The application is told once, with a code of our own."""
    said = ask(PAY, trafficmock)
    assert ("ENOTFOUND" in said) != (REFUSED in said), said


def test_that_fails_anyway(trafficmock: TrafficMock) -> None:
    assert ask(PAY, trafficmock) == "mocked"
