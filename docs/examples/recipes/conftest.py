"""The applications of the recipes, attached to the proxy that the tests started."""

from collections.abc import Callable

import pytest
from shop_process import SHOP, URL, Pages, pages_of

from trafficmock.testing.launch import Application


@pytest.fixture(scope="session")
def shop(trafficmock_app: Callable[..., Application]) -> Pages:
    return pages_of(trafficmock_app(SHOP, ready=URL, client_id="shop").url)


@pytest.fixture(scope="session")
def other_shop(trafficmock_app: Callable[..., Application]) -> Pages:
    return pages_of(trafficmock_app(SHOP, ready=URL, client_id="other-shop").url)
