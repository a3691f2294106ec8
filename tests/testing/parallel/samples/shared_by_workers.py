"""Routes of all tests, which each worker registers, for requests without a context."""

import os
import urllib.request

import pytest

from trafficmock.testing.sync import Route, SharedTrafficMock, TrafficMock


@pytest.fixture(scope="session", autouse=True)
def of_all_tests(trafficmock_shared: SharedTrafficMock) -> None:
    """Answer what the application sends beside its requests."""
    trafficmock_shared.mock("http://analytics.test/**", status=204)

    def send(route: Route) -> None:
        route.fulfill(body=os.environ["PYTEST_XDIST_WORKER"])

    trafficmock_shared.route("http://mail.test/**", send)
    of_run = trafficmock_shared(scope="run")
    of_run.mock("http://tickets.test/**", status=201, times=20)
    of_run.mock("http://mail.test/**", status=500)


def asked(host: str) -> str:
    with urllib.request.urlopen(f"{os.environ['SAMPLE_APP']}/{host}", timeout=30) as answer:
        text: str = answer.read().decode()
        return text


@pytest.mark.parametrize("number", range(10))
def test_fixed(number: int, trafficmock: TrafficMock) -> None:
    assert asked("analytics") == "204"


@pytest.mark.parametrize("number", range(10))
def test_handler(number: int, trafficmock: TrafficMock) -> None:
    assert asked("mail").startswith("200 gw")


@pytest.mark.parametrize("number", range(5))
def test_of_the_run(number: int, trafficmock: TrafficMock) -> None:
    assert asked("tickets") == "201"
