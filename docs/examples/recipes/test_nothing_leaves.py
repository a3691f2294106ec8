"""A recipe: a request that the test did not expect goes nowhere and fails the test."""

from collections.abc import Iterator

import pytest
from shop_process import Pages

from trafficmock.testing.sync import Route, TrafficMock


@pytest.fixture(autouse=True)
def nothing_leaves(trafficmock: TrafficMock) -> Iterator[None]:
    unexpected: list[str] = []

    def refuse(route: Route) -> None:
        unexpected.append(f"{route.request.method} {route.request.url}")
        route.abort("blockedbyclient")

    # The oldest route comes last: every route of the test is asked before it.
    trafficmock.route("**/*", refuse)
    yield
    assert not unexpected, f"requests without a route: {unexpected}"


def test_expected(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.route("**/v1/teapot", lambda route: route.fulfill(json={"price": 42}))
    assert shop("/price") == "42 €"


def test_unexpected(shop: Pages) -> None:
    shop("/feed")
