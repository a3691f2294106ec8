"""The shop with pytest-xdist: each worker has a shop of its own, and all want the same URL."""

from collections.abc import Iterator

import pytest
from shop_process import Shop

from trafficmock.testing.launch import Proxy
from trafficmock.testing.sync import TrafficMock


@pytest.fixture(scope="session")
def own_shop(trafficmock_proxy: Proxy, worker_id: str) -> Iterator[Shop]:
    started = Shop(trafficmock_proxy, client_id=f"shop-{worker_id}")
    yield started
    started.stop()


@pytest.mark.parametrize("receipt", ["R1", "R2", "R3", "R4", "R5"])
def test_paid(own_shop: Shop, trafficmock: TrafficMock, receipt: str) -> None:
    trafficmock.route(
        "**/charges",
        lambda route: route.fulfill(json={"receipt": receipt}),
        client_id=own_shop.client_id,
    )
    assert own_shop.buy() == f"Thank you! Receipt {receipt}."
