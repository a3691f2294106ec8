"""Strict mode: a request that the test did not expect goes nowhere and fails the test."""

import pytest
from shop_process import Pages

from trafficmock.testing.sync import TrafficMock

pytestmark = pytest.mark.trafficmock(strict=True, allow=["login.example"])


def test_expected(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.mock("**/v1/teapot", json={"price": 42})
    assert shop("/price", trafficmock.headers) == "42 €"


def test_unexpected(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.mock("https://feed.example/teapot", body="one")
    shop("/feed", trafficmock.headers)
