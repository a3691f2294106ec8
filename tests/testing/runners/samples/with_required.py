"""Tests whose mocks nobody meets, as pytest, unittest and trial run them."""

from typing import Any

import pytest

from trafficmock.errors import TrafficMockError
from trafficmock.testing import sync
from trafficmock.testing import trial as our_trial
from trafficmock.testing import unittest as our_unittest

NOBODY = "https://nobody.example/**"


def test_unmet(trafficmock: Any) -> None:
    trafficmock.mock(NOBODY)


def test_not_required(trafficmock: Any) -> None:
    trafficmock.mock(NOBODY, required=False)


def test_fails_anyway(trafficmock: Any) -> None:
    trafficmock.mock(NOBODY)
    raise AssertionError("on purpose")


def test_skipped(trafficmock: Any) -> None:
    trafficmock.mock(NOBODY)
    pytest.skip("on purpose")


def test_block(trafficmock_proxy: Any) -> None:
    unmet = pytest.raises(ExceptionGroup, match="UnmetRouteError: no request met the route")
    with unmet, sync.mocks(trafficmock_proxy.url, required=True) as mocks:
        mocks.mock(NOBODY)
    with pytest.raises(TrafficMockError), sync.mocks(trafficmock_proxy.url) as mocks:
        mocks.mock(NOBODY, required=True)
        raise TrafficMockError("on purpose")


class UnittestTests(our_unittest.TestCase):
    """Run by unittest."""

    trafficmock_required = True

    def test_unmet(self) -> None:
        self.trafficmock.mock(NOBODY)

    def test_skipped(self) -> None:
        self.trafficmock.mock(NOBODY)
        self.skipTest("on purpose")


class TrialTests(our_trial.TestCase):
    """Run by trial."""

    trafficmock_required = True

    async def test_unmet(self) -> None:
        await self.trafficmock.mock(NOBODY)
