"""The applications of the recipes, attached to the proxy that the tests started."""

from collections.abc import Callable, Iterator

import pytest
from shop_process import Pages, started


@pytest.fixture(scope="session")
def shop(trafficmock_env: Callable[..., dict[str, str]]) -> Iterator[Pages]:
    with started(trafficmock_env(client_id="shop")) as page:
        yield page


@pytest.fixture(scope="session")
def other_shop(trafficmock_env: Callable[..., dict[str, str]]) -> Iterator[Pages]:
    with started(trafficmock_env(client_id="other-shop")) as page:
        yield page
