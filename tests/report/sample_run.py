"""A run for the page of a report, with what such a page has to show."""

from base64 import b64encode
from pathlib import Path
from typing import Any

from tests.report.records import begin, end, entry, har, test, unowned, worker
from tests.report.records import counts as traffic
from trafficmock.report.run_document import run_document
from trafficmock.report.saved_page import saved_page

START = 1_795_608_000_000
FILE = "tests/test_checkout.py"
ERROR = """\
>       assert page.title() == "Declined"
E       AssertionError: assert 'Paid' == 'Declined'"""
HOSTILE = "</script><script>document.title = 'evil'</script>\u202e"

_JSON = {"content-type": "application/json"}


def _message(content: str) -> dict[str, Any]:
    return {"headers": _JSON, "bodyBase64": b64encode(content.encode()).decode()}


def _answered(test_id: str, at: int) -> dict[str, Any]:
    matcher = {"urlGlob": "https://payments.example/**"}
    return entry(
        f"r{at}",
        START + at,
        request={
            "url": "https://payments.example/charges",
            "method": "POST",
            **_message('{"amount": 4200}'),
        },
        outcome={
            "kind": "mocked",
            "response": {"status": 402, "statusText": "", **_message('{"error": "declined"}')},
            "routeId": "q1",
            "testId": test_id,
        },
        action="fulfill",
        durationMs=12,
        testId=test_id,
        title="test_declined",
        path=FILE,
        routeId="q1",
        route={"matcher": matcher, "place": f"{FILE}:14"},
        events=[
            {"id": f"e{at}", "timestamp": START + at, "kind": "observed"},
            {"id": f"f{at}", "timestamp": START + at + 12, "kind": "fulfill"},
        ],
    )


def _refused(at: int) -> dict[str, Any]:
    failed = {"kind": "upstream_error", "detail": "connect ECONNREFUSED 127.0.0.1:9"}
    return entry(
        f"u{at}",
        START + at,
        request={"url": "http://stock.example/teapot", "method": "GET", **_message("")},
        durationMs=3,
        events=[
            {"id": f"g{at}", "timestamp": START + at, "kind": "observed"},
            {"id": f"h{at}", "timestamp": START + at + 3, **failed},
        ],
    )


def _route(number: int, pattern: str, requests: int) -> dict[str, Any]:
    return {
        "routeId": f"q{number}",
        "kind": "http",
        "matcher": {"urlGlob": pattern, "methods": ["POST"]},
        "handler": "handler of a mock with status 402",
        "place": f"{FILE}:{13 + number}",
        "requests": requests,
    }


def sample_run() -> dict[str, Any]:
    """Return the document of a run with two failed tests, one of a worker that was killed."""
    declined = test(
        "t1",
        START,
        title=f"{FILE}::test_declined",
        file=FILE,
        line=12,
        durationMs=840,
        error=ERROR,
        sections=[{"title": "output of shop during this test", "text": "declined: " + "x" * 400}],
        routes=[_route(1, "https://payments.example/**", 1), _route(2, "**/refunds", 0)],
        requests=[_answered("t1", 20)],
        webSockets=[
            {
                "id": "w1",
                "timestamp": START + 30,
                "clientId": "shop",
                "url": "wss://push.example/room",
                "protocols": [],
                "outcome": "matched",
                "testId": "t1",
                "events": [
                    {
                        "id": "w1f",
                        "timestamp": START + 31,
                        "direction": "server",
                        "kind": "frame",
                        "data": "sold out",
                        "isBase64": False,
                    }
                ],
            }
        ],
        har="har/test_declined.har",
    )
    hostile = test("t2", START + 900, title=HOSTILE, error=HOSTILE, missing="the proxy was gone")
    counts = {"passed": 41, "failed": 2, "skipped": 1}
    workers = worker("s", tests=traffic(fulfill=156), unowned=traffic(passthrough=4))
    refused = [
        {
            "kind": "http",
            "method": "GET",
            "url": "https://telemetry.example/v1",
            "clientId": "shop",
            "count": 7,
        }
    ]
    hars = har("tests/hars/prices.har", 9, 1, 2, 4), har("tests/hars/stock.har", 1, 1)
    first = [begin("gw0", START), declined, unowned(_refused(300)), *hars]
    last = end(START + 9000, counts=counts, workers=workers, refused=refused)
    return run_document([[*first, last], [begin("gw1", START + 1), hostile]])


def write_page(directory: Path) -> str:
    """Write the page of the run; return its address."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "index.html"
    path.write_text(saved_page(sample_run()), encoding="utf-8")
    return path.absolute().as_uri()
