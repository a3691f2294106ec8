"""Run by pytest in two processes: all tests mock the same URL on one application, at once."""

import os
import uuid
from collections.abc import Callable
from urllib.request import Request, build_opener

import pytest

from trafficmock.testing.errors import MixedContextError
from trafficmock.testing.sync import TrafficMock

CARRIER = os.environ.get("SAMPLE_CARRIER", "headers")
APP = os.environ.get("SAMPLE_APP", "")
WORKERS = 2
COUNT = 3

Headers = dict[str, str]
Meet = Callable[[str], None]


def get(path: str, headers: Headers) -> str:
    """Ask the application, not by way of a proxy of the environment."""
    with build_opener().open(Request(f"{APP}{path}", headers=headers), timeout=60) as answer:
        body: str = answer.read().decode()
        return body


@pytest.fixture
def headers(trafficmock: TrafficMock) -> Headers:
    """Give what a client sends that carries the context."""
    cookie = trafficmock.cookie
    return (
        {"cookie": f"{cookie['name']}={cookie['value']}"}
        if CARRIER == "cookie"
        else trafficmock.headers
    )


@pytest.fixture
def together(request: pytest.FixtureRequest) -> Meet:
    """Wait until the same test of every worker is at this point."""

    def meet(point: str) -> None:
        get(f"/meet?count={WORKERS}&name={request.node.name}-{point}", {})

    return meet


@pytest.mark.parametrize("number", range(COUNT))
def test_own_answer(
    trafficmock: TrafficMock, together: Meet, headers: Headers, number: int
) -> None:
    mark = f"{number}-{uuid.uuid4()}"
    trafficmock.route("http://prices.test/teapot?*", lambda route: route.fulfill(body=mark))
    together("routed")
    try:
        answers = set()
        for turn in range(3):
            with trafficmock.expect_request("**/teapot?*") as asked:
                answers.add(get(f"/price?{mark}-{turn}", headers))
            assert asked.value.url.endswith(f"?{mark}-{turn}")
        assert answers == {mark}
        assert len(trafficmock.requests("**/teapot?*")) == 3
    finally:
        together("asked")


def test_without_a_route(trafficmock: TrafficMock, together: Meet, headers: Headers) -> None:
    worker = os.environ["PYTEST_XDIST_WORKER"]
    if worker == "gw0":
        trafficmock.route("http://prices.test/teapot", lambda route: route.fulfill(body="gw0"))
    together("routed")
    try:
        said = get("/price", headers)
    finally:
        together("asked")
    # The other worker's route is not for this test: its request goes to the network.
    assert (said == "gw0") == (worker == "gw0"), said
    # Tests that require their contexts are told that only the other one mocks this URL.
    errors = trafficmock.take_errors()
    assert {type(each) for each in errors} <= {MixedContextError}, errors


def test_shared(headers: Headers, trafficmock_shared: TrafficMock, together: Meet) -> None:
    mine = str(uuid.uuid4())
    trafficmock_shared.route("http://prices.test/*", lambda route: route.fulfill(body=mine))
    together("routed")
    try:
        assert get("/price", headers) == mine
    finally:
        together("asked")
        trafficmock_shared.unroute_all()
