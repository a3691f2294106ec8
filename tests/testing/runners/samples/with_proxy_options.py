"""A test that says what the history of its proxy keeps."""

import json
from typing import Any
from urllib.request import urlopen


def test_capture(trafficmock_proxy: Any) -> None:
    with urlopen(f"{trafficmock_proxy.url}/health") as answer:
        assert json.load(answer)["historyCapture"] == "handled"
