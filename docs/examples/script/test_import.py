"""Each test starts the script itself, under a client id of its own."""

import subprocess
import sys
from collections.abc import Callable

from trafficmock.testing.sync import TrafficMock

PRICES = "https://prices.example/v1"


def run(environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "import_prices.py"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_prices(trafficmock: TrafficMock, trafficmock_env: Callable[..., dict[str, str]]) -> None:
    trafficmock.route(
        PRICES, lambda route: route.fulfill(json={"teapot": 3}), client_id="import-prices"
    )
    assert run(trafficmock_env(client_id="import-prices")).stdout == "teapot: 3\n"


def test_down(trafficmock: TrafficMock, trafficmock_env: Callable[..., dict[str, str]]) -> None:
    trafficmock.route(
        PRICES, lambda route: route.abort("connectionrefused"), client_id="import-down"
    )
    done = run(trafficmock_env(client_id="import-down"))
    assert done.returncode == 1
    assert "Connection refused" in done.stderr
