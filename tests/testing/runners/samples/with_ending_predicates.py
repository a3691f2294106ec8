"""Run by pytest as a child: functions of tests that raise what is no ``Exception``."""

import sys
from typing import Any, NoReturn

import pytest

from tests.testing.runners.samples.with_pytest import get


def fails(_: Any) -> NoReturn:
    pytest.fail("not this one")


def skips(_: Any) -> NoReturn:
    pytest.skip("not here")


def ends(_: Any) -> NoReturn:
    sys.exit("not now")


def stops(_: Any) -> NoReturn:
    pytest.exit("enough")


@pytest.mark.parametrize("predicate", [fails, skips, ends])
def test_of_a_url(trafficmock: Any, predicate: Any) -> None:
    trafficmock.route(predicate, lambda route: route.abort())
    assert get("json/passed")


@pytest.mark.parametrize("function", [fails, skips, ends])
def test_of_a_value(trafficmock: Any, function: Any) -> None:
    trafficmock.route("**", lambda route: route.abort(), match_query={"a": function})
    assert get("json/passed?a=1")


def test_that_is_right(trafficmock: Any) -> None:
    trafficmock.mock("**/json/own", json={"path": "mocked"})
    assert "mocked" in str(get("json/own"))


def test_that_stops(trafficmock: Any) -> None:
    trafficmock.route(stops, lambda route: route.abort())
    get("json/passed")


def test_that_never_runs() -> None:
    """The run has ended."""
