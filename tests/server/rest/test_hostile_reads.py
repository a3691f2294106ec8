"""Hostile queries of a hostile history, through the real site: lists, entries and HARs."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw
from twisted.trial.unittest import SynchronousTestCase

from tests.support.http_client import OWNER, Answer, Service
from tests.support.hypothesis_profiles import profile
from trafficmock import records
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

ODD = ["\r\nset-cookie: x=1\r\n\r\n", '"', "\ud800", "é", "..", "/", "%", "\0", "", "a=b; c"]
TEXTS = st.one_of(st.sampled_from(ODD), st.text(st.characters(), max_size=12))
IDS = st.sampled_from(["a", "..", "/", "x\r\ny", '"; filename="evil', "%2e", "é", "\ud800b"])
HEADERS = st.dictionaries(TEXTS, TEXTS, max_size=3)
BODIES = st.sampled_from([Raw(b"null"), Raw(b'"aGk="'), Raw(b'"no base64!"'), Raw(b'"/+8="')])
REQUESTS = st.builds(SerializedRequest, TEXTS, TEXTS, HEADERS, BODIES)
RESPONSES = st.builds(
    SerializedResponse,
    st.integers(200, 599),
    TEXTS,
    HEADERS,
    BODIES,
    st.one_of(TEXTS, st.just(UNSET)),
)
ENTRIES = st.lists(st.tuples(IDS, REQUESTS, st.one_of(st.none(), RESPONSES)), max_size=4)
NAMES = ["q", "from", "to", "testId", "clientId", "unowned", "late", "action", "method", "status"]
NAMES += ["limit", "offset", "fields", "since", "other"]
VALUES = st.one_of(
    st.text(max_size=8).map(lambda text: quote(text, errors="surrogatepass")),
    st.text(alphabet='%&=;+0123456789.eE-xX"s', max_size=24),
    st.sampled_from(["true", "summary", "4xx", "9" * 400, "1e999", "-0", "%00", "%ff", '"s-0"']),
)
QUERIES = st.lists(st.tuples(st.sampled_from(NAMES), VALUES), max_size=5)
TAGS = st.one_of(st.none(), st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=9))


def remember(service: Service, entries: Sequence[Any]) -> None:
    for request_id, request, response in entries:
        service.history.record(records.RequestSeen(request_id, "app", request), 1)
        if response is not None:
            service.history.record(records.RequestFulfilled(request_id, OWNER, response), 2)


class HostileTests(SynchronousTestCase):
    """Whatever is recorded and whatever is asked, the answer is one of the documented ones."""

    def assert_sound(self, answer: Answer) -> None:
        """Check what holds of every answer that has a body."""
        self.assertEqual(answer.headers["content-type"], "application/json; charset=utf-8")
        self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
        self.assertNotIn("set-cookie", answer.headers)
        self.assertIsInstance(answer.json(), dict)

    @given(ENTRIES, QUERIES, TAGS, st.sampled_from(["/api/history", "/api/ws"]))
    @profile(60)
    def test_lists(
        self, entries: Sequence[Any], query: Sequence[Any], tag: str | None, path: str
    ) -> None:
        """A list is 200, 304 or 400, and has nothing that the whole list has not."""
        service = Service()
        remember(service, entries)
        text = "&".join(f"{name}={value}" for name, value in query)
        headers = {} if tag is None else {"if_none_match": tag}
        answer = service.ask(f"{path}?{text}", **headers)
        self.assertIn(answer.status, (200, 304, 400))
        if answer.status == 304:
            self.assertEqual(answer.body, b"")
            return
        self.assert_sound(answer)
        if answer.status == 200 and path == "/api/history":
            known = {entry_id for entry_id, _, _ in entries}
            self.assertLessEqual({row["id"] for row in answer.json()["entries"]}, known)

    @given(ENTRIES, IDS)
    @profile(60)
    def test_hars(self, entries: Sequence[Any], wanted: str) -> None:
        """An entry with a response has a HAR whose file name needs no escape, others have none."""
        service = Service()
        remember(service, entries)
        answer = service.ask(f"/api/history/{quote(wanted, safe='', errors='surrogatepass')}/har")
        self.assert_sound(answer)
        answered = {entry_id: response is not None for entry_id, _, response in entries}
        status = {True: 200, False: 409, None: 404}[answered.get(wanted)]
        self.assertEqual(answer.status, 404 if "\ud800" in wanted else status)
        if answer.status == 200:
            self.assertEqual(len(json.loads(answer.body)["log"]["entries"]), 1)
            disposition = answer.headers["content-disposition"]
            self.assertRegex(disposition, r'^attachment; filename="trafficmock-[\w.-]*\.har"$')
