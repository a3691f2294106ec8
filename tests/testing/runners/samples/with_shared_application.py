"""Tests of one application that all workers share, and of one that each has for itself."""

import json
import os
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

FLOOD = str(Path(__file__).parents[2] / "applications" / "flood.py")
CHILD = "import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]])"
COMMAND = [sys.executable, "-c", CHILD, FLOOD, "{port}"]
READY = "http://127.0.0.1:{port}/1"


@pytest.fixture(scope="session")
def shop(trafficmock_app: Any) -> Any:
    return trafficmock_app(COMMAND, ready=READY, client_id="shop")


@pytest.fixture(scope="session")
def own(trafficmock_app: Any) -> Any:
    return trafficmock_app(COMMAND, ready=READY, client_id="own", shared=False)


@pytest.fixture(scope="session")
def second(trafficmock_app: Any, shop: Any) -> Any:
    return trafficmock_app(COMMAND, ready=READY, client_id="shop")


@pytest.mark.parametrize("number", range(6))
def test_shared(shop: Any, own: Any, second: Any, number: int) -> None:
    """Each writes what it has seen."""
    seen: dict[str, Any] = {"worker": os.environ.get("PYTEST_XDIST_WORKER")}
    for name, each in (("shop", shop), ("own", own), ("second", second)):
        url = f"{each.url.removesuffix('/1')}/{300_000 + number}"
        urllib.request.urlopen(url, timeout=30).close()
        seen[name] = each.pid
    seen["urls"] = [each.url for each in (shop, own, second)]
    Path(os.environ["SEEN"], f"{number}.json").write_text(json.dumps(seen))
    if number == 3:
        until = time.monotonic() + 30
        while "GET /300003" not in shop.output() and time.monotonic() < until:
            time.sleep(0.01)
        raise AssertionError("on purpose")
