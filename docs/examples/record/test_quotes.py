"""What the application makes of the service, as it was recorded."""

import json
from pathlib import Path
from urllib.request import Request, urlopen

from trafficmock.testing.sync import TrafficMock

HAR = Path(__file__).parent / "hars" / "quotes.har"


def test_quote(quotes: str, trafficmock: TrafficMock) -> None:
    trafficmock.route_from_har(
        HAR, mode="once", ignore=["json:request_id", "json:sent_at"], in_order=True
    )
    with urlopen(Request(f"{quotes}/quote/5", headers=trafficmock.headers)) as answer:
        assert json.load(answer) == {"price": 60}
