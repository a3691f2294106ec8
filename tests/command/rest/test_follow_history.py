"""Following the list of a real history: nothing that is remembered is missed."""

import io
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from attrs import define
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.http_client import Service, record
from tests.support.hypothesis_profiles import profile
from trafficmock import records
from trafficmock.command.output.terminal import Terminal
from trafficmock.command.rest.follow import Follower
from trafficmock.command.rest.list_resources import REQUESTS
from trafficmock.command.rest.rest_client import RestResponse
from trafficmock.history.store import History
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import SerializedResponse

LIMIT = 8
HOUR_MS = 3_600_000
STEPS = st.sampled_from(["seen", "pass", "mock", "report", "poll"])
NAMES = st.sampled_from("abcdefgh")


@define
class HistoryClient:
    """Asks a site without a port."""

    service: Service
    lost: int = 0

    def get(self, path: str, query: dict[str, Any], etag: str | None) -> RestResponse:
        given = {name: value for name, value in query.items() if value is not None}
        headers = {"if_none_match": etag} if etag else {}
        answer = self.service.ask(f"{path}?{urlencode(given)}", **headers)
        document = answer.json() if answer.status == 200 else {}
        return RestResponse(answer.status, answer.headers.get("etag"), document)


def do(history: History, step: str, name: str, at: int) -> None:
    """Have something happen to a request."""
    if step == "seen":
        record(history, name, at=at, answered=False)
    elif step == "mock":
        record(history, name, at=at)
    elif step == "pass":
        history.record(records.RequestPassedThrough(name), at)
    else:
        response = SerializedResponse(204, "", {}, body.NULL)
        history.record(records.ResponseReported(name, response, None), at)


class FollowTests(SynchronousTestCase):
    """Requests begin, are answered and go between the polls."""

    @given(st.lists(st.tuples(STEPS, NAMES, st.integers(0, HOUR_MS)), max_size=40))
    @profile(60)
    def test_nothing_missed(self, steps: Sequence[tuple[str, str, int]]) -> None:
        """The last line about each remembered request is its state, whenever it began."""
        out = io.StringIO()
        service = Service(history=History(http_limit=LIMIT))
        follower = Follower(
            client=HistoryClient(service),  # type: ignore[arg-type] # plays it
            listing=REQUESTS,
            query={},
            terminal=Terminal(out=out, width=None, coloured=False),
            as_json=True,
        )
        for step, name, at in steps:
            if step == "poll":
                follower._poll()
            else:
                do(service.history, step, name, at)
        follower._poll()
        lines = map(json.loads, out.getvalue().splitlines())
        printed = {line["id"]: REQUESTS.state(line) for line in lines}
        for entry in service.ask("/api/history?fields=summary").json()["entries"]:
            self.assertEqual(printed.get(entry["id"]), REQUESTS.state(entry))
