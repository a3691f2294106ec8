"""Run by pytest with several workers: all tests mock the same three URLs on two servers."""

import os
import uuid
from concurrent.futures import ThreadPoolExecutor
from urllib.request import Request, build_opener

import pytest

from trafficmock.testing.sync import TrafficMock

SERVERS = os.environ.get("SAMPLE_SERVERS", "").split()
COUNT = int(os.environ.get("SAMPLE_COUNT", "1"))


def page(server: str, headers: dict[str, str], name: str = "page") -> str:
    """Load a page, not by way of a proxy of the environment."""
    with build_opener().open(Request(f"{server}/{name}", headers=headers), timeout=60) as answer:
        body: str = answer.read().decode()
        return body


@pytest.mark.parametrize("number", range(COUNT))
def test_own_token(trafficmock: TrafficMock, number: int) -> None:
    token = f"{number}-{uuid.uuid4()}"
    for name in ("price", "stock", "reviews"):
        trafficmock.route(f"http://third.test/{name}*", lambda route: route.fulfill(body=token))
    headers = trafficmock.headers
    with ThreadPoolExecutor(2 * len(SERVERS)) as pool:
        pages = pool.map(lambda server: page(server, headers), 2 * SERVERS)
        assert list(pages) == [" ".join([token] * 3)] * 2 * len(SERVERS)
