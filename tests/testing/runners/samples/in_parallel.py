"""Run by pytest with several workers: each has its application, and all want the same URL."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.processes.child_process import Child
from tests.support.processes.node_parts import NODE_DIRECTORY, node_binary
from tests.testing.row_context import control

COUNT = int(os.environ.get("SAMPLE_COUNT", "5"))
UPSTREAM = os.environ.get("SAMPLE_UPSTREAM", "")
ME = os.environ.get("PYTEST_XDIST_WORKER", "main")


@pytest.fixture(scope="session")
def app(trafficmock_proxy: Any) -> Iterator[str]:
    env = {"APP_PROXY_URL": trafficmock_proxy.url, "APP_CLIENT_ID": f"app-{ME}"}
    child = Child.start("app", [str(node_binary()), str(NODE_DIRECTORY / "app.mjs")], env=env)
    yield child.announced()["url"]
    child.stop()


@pytest.mark.parametrize("number", range(COUNT))
def test_no_cross_talk(trafficmock: Any, app: str, number: int) -> None:
    mine = f"{ME} {number}"
    trafficmock.route(
        "**/json/shared", lambda route, _: route.fulfill(body=mine), client_id=f"app-{ME}"
    )
    command = {"kind": "http", "url": f"{UPSTREAM}/json/shared"}
    with trafficmock.expect_request(lambda request: request.client_id == f"app-{ME}") as info:
        bodies = {control(app, "request", command)["body"] for _ in range(3)}
    assert bodies == {mine}
    assert info.value.client_id == f"app-{ME}"
    seen = trafficmock.requests(client_id=f"app-{ME}")
    assert len(seen) == 3, seen
