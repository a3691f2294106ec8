"""The shop with pytest-xdist: all workers use one shop, and all tests want the same URL."""

from urllib.request import Request, urlopen

import pytest

from trafficmock.testing.sync import TrafficMock


@pytest.mark.parametrize("receipt", ["R1", "R2", "R3", "R4", "R5"])
def test_paid(trafficmock: TrafficMock, trafficmock_base_url: str, receipt: str) -> None:
    trafficmock.route("**/charges", lambda route: route.fulfill(json={"receipt": receipt}))
    buying = Request(f"{trafficmock_base_url}/buy", b"", headers=trafficmock.headers)
    with urlopen(buying) as answer:
        assert answer.read().decode() == f"Thank you! Receipt {receipt}."
