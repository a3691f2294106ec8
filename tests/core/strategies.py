"""Any message, from small pools of ids, so that it often concerns something."""

import json
from typing import Any, Literal, get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec import UNSET, Raw, structs

from tests.support import builders
from tests.support.builders import options
from trafficmock.wire import inbound, local_reports
from trafficmock.wire.client_message import GlobQuery, RedactQuery
from trafficmock.wire.codec import to_plain
from trafficmock.wire.inbound import Message
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import (
    Abort,
    AbortCode,
    Continue,
    Fallback,
    Fault,
    FaultKind,
    Fetch,
    Fulfill,
)
from trafficmock.wire.payloads.serialized_har import SerializedHar
from trafficmock.wire.payloads.serialized_matcher import SerializedCondition, SerializedMatcher
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse
from trafficmock.wire.waits import wait_messages

REQUESTS = st.sampled_from(["r0", "r1", "r2", "r3", "r4"])
FETCHES = st.sampled_from(["f0", "f1"])
SOCKETS = st.sampled_from(["s0", "s1"])
TESTS = st.sampled_from(["t0", "t1", "t2"])
WAITS = st.sampled_from(["w0", "w1"])
ROUTES = st.sampled_from(["q0", "q1", "q2", "q3"])
URLS = st.sampled_from(["http://h.test/a", "http://h.test/b"])
ROLES = st.sampled_from(["node", "node", "playwright", "playwright", "runner"])
FEATURES = st.sampled_from(
    [
        [],
        ["headers-list"],
        ["headers-list", "x"],
        ["headers-list", "subscribe"],
        ["stream"],
        ["context"],
        ["context", "stream", "subscribe"],
        ["strict"],
        ["context", "stream", "strict"],
        ["context", "local", "stream", "strict", "subscribe"],
        ["clock"],
        ["clock", "context"],
        ["clock", "context", "stream", "subscribe"],
        ["chain"],
        ["chain", "stream", "subscribe"],
        ["chain", "faults", "stream-mocks"],
        ["chain", "context", "stream", "stream-mocks", "strict", "subscribe"],
        ["chain", "clock", "context", "stream", "strict", "subscribe"],
        ["warnings"],
        ["chain", "clock", "context", "stream", "subscribe"],
        ["chain", "context", "stream", "stream-mocks"],
    ]
)
CONTEXTS = st.sampled_from(["a" * 32, "b" * 32])
claimed = CONTEXTS | st.just(UNSET)
carried = CONTEXTS | st.sampled_from([UNSET, "", "c" * 32, "\ud800"])

allowed = st.sampled_from([[], [], ["h.test"], ["http://h.test/b"], ["a b"]])
"""The last one cannot be read."""

requests = st.builds(
    builders.request,
    URLS,
    st.sampled_from(["GET", "POST"]),
    st.sampled_from([b"", b"x" * 30, b'{"a": 1}', b"a=1"]),
)
responses: SearchStrategy[SerializedResponse] = st.one_of(
    st.builds(builders.response, st.sampled_from([0, 200, 204, 304, 404]), st.just(b"x")),
    st.builds(builders.response, st.just(200), st.just(b"x" * 30)),
    st.builds(builders.redirect, st.sampled_from(["/b", ""])),
    st.just(structs.replace(builders.response(), headers={"set-cookie": "a\nb", "x": "€"})),
    st.just(structs.replace(builders.response(), headers_list=[("Set-Cookie", "a")])),
)
failures = st.builds(SerializedError, st.just("Error"), st.sampled_from(["", "\ud800 refused"]))
overrides = st.sampled_from(
    [
        SerializedOverrides(),
        SerializedOverrides(url="http://h.test/b", method="POST", body_base64=body.NULL),
        SerializedOverrides(url="https://h.test/c"),
        SerializedOverrides(url="http://h.test/c", headers={"a": "b"}, headers_list=[("A", "b")]),
    ]
)
matchers = st.sampled_from(
    [
        SerializedMatcher(url_glob="http://h.test/a"),
        SerializedMatcher(url_glob="**"),
        SerializedMatcher(predicate=True),
        SerializedMatcher(url_glob="/relative"),
        SerializedMatcher(url_glob="ws://**"),
        SerializedMatcher(methods=["POST"], client_ids=["app"]),
        SerializedMatcher(conditions=[SerializedCondition("json", ["a"], equals=1)]),
        SerializedMatcher(predicate=True, conditions=[SerializedCondition("form", ["a"])]),
        SerializedMatcher(conditions=[SerializedCondition("header", ["h"], is_absent=True)]),
    ]
)
kinds: SearchStrategy[inbound.RouteKind] = st.sampled_from(["http", "http", "websocket"])
times = st.sampled_from([UNSET, 1, 2])
har_entries = st.lists(
    st.builds(
        lambda url, status: Raw(
            json.dumps(
                {"request": {"method": "GET", "url": url}, "response": {"status": status}}
            ).encode()
        ),
        URLS,
        st.sampled_from([200, -1, "x"]),
    ),
    max_size=2,
)
DELAYS = st.sampled_from([UNSET, UNSET, 500])
not_found: SearchStrategy[Literal["abort", "fallback"]] = st.sampled_from(["abort", "fallback"])
_pieces = st.sampled_from([UNSET, UNSET, [(0, 1)], [(0, 10), (5, 0), (5, 20)]])
_rates = st.sampled_from([UNSET, UNSET, UNSET, 1, 100])
_faults = st.just(UNSET) | st.builds(
    Fault,
    st.sampled_from(get_args(FaultKind)),
    st.sampled_from([UNSET, 0, 1, 1000]),
)
fixed_answers: SearchStrategy[list[Any]] = st.lists(
    st.builds(
        Fulfill,
        responses,
        pieces=_pieces,
        rate=_rates,
        fault=_faults,
        delay_ms=DELAYS,
    )
    | st.builds(Abort, st.sampled_from(get_args(AbortCode)), delay_ms=DELAYS),
    max_size=3,
)
registrations: SearchStrategy[inbound.RouteRegister] = st.builds(
    inbound.RouteRegister,
    ROUTES,
    TESTS,
    matchers,
    kinds,
    options=st.just(UNSET) | fixed_answers.map(lambda answers: options(*answers)),
    har=st.just(UNSET)
    | st.builds(
        SerializedHar,
        st.just("some.har"),
        har_entries,
        not_found=not_found,
        match_on=st.sampled_from([UNSET, ["method", "json"]]),
        in_order=st.booleans(),
    ),
    times=times,
)
matches = st.lists(st.builds(inbound.RouteMatch, ROUTES), max_size=3)
frames = (SOCKETS, st.just("x"), st.booleans())
closes = (
    SOCKETS,
    st.booleans(),
    st.sampled_from([UNSET, 1000]),
    st.sampled_from([UNSET, "bye"]),
)
actions: SearchStrategy[Any] = st.one_of(
    st.builds(Fulfill, responses),
    st.builds(Fulfill, responses, st.just(value=True)),
    st.builds(
        Fulfill,
        responses,
        fault=st.builds(
            Fault,
            st.sampled_from(get_args(FaultKind)),
            st.sampled_from([UNSET, 0, 3]),
        ),
    ),
    st.builds(Continue, overrides | st.just(UNSET)),
    st.builds(Abort, st.sampled_from(get_args(AbortCode)), st.just(UNSET)),
    st.builds(Fetch, FETCHES),
    st.builds(Fallback, overrides | st.just(UNSET)),
)


def _outcomes(kind: Any, *ids: SearchStrategy[str]) -> SearchStrategy[Message]:
    """Write answers with a response, a failure, neither or both."""
    maybe_response, maybe_failure = responses | st.just(UNSET), failures | st.just(UNSET)
    return st.builds(kind, *ids, st.booleans(), maybe_response, maybe_failure)


clients = st.sampled_from(["app", "other"])
on_sockets_by_agents: SearchStrategy[Message] = st.one_of(
    st.builds(inbound.MessageFromPage, *frames),
    st.builds(inbound.MessageFromServer, *frames),
    st.builds(inbound.ClosePage, *closes),
    st.builds(inbound.CloseServer, *closes),
)
on_sockets_by_workers: SearchStrategy[Message] = st.one_of(
    st.builds(inbound.SendToPage, *frames),
    st.builds(inbound.SendToServer, *frames),
    st.builds(inbound.SocketConnect, SOCKETS),
    st.builds(inbound.SocketEnsureOpened, SOCKETS),
    st.builds(inbound.ClosePage, *closes),
    st.builds(inbound.CloseServer, *closes),
)
maybe = st.sampled_from([UNSET, True, False])
starts = st.builds(
    inbound.RequestStart, REQUESTS, clients, requests, maybe, st.just(UNSET), carried
)
contents = st.builds(
    inbound.RequestBody,
    REQUESTS,
    st.sampled_from([body.NULL, body.from_bytes(b"x" * 30)]),
    maybe,
    st.sampled_from([UNSET, 0, 99]),
)
passed = st.builds(
    local_reports.RequestPassed, REQUESTS, clients, requests, st.integers(0, 3), maybe, carried
)
answered = _outcomes(inbound.RequestResponse, REQUESTS)
hops = st.builds(inbound.RequestObserve, REQUESTS, clients, requests, REQUESTS)


def _batch(messages: list[Any]) -> local_reports.Batch:
    return local_reports.Batch(messages, [*range(len(messages))][::-1])


batches = st.lists(
    passed | answered | hops | contents,
    min_size=1,
    max_size=4,
    unique_by=lambda message: str(to_plain(message)["requestId"]),
).map(_batch)
acknowledgements: SearchStrategy[Message] = st.builds(
    local_reports.FilterAck, st.integers(0, 9)
) | st.builds(local_reports.Synced, st.integers(0, 9))
SEQS = st.sampled_from([1, 1, 2, 3])
on_streams_by_agents: SearchStrategy[Message] = st.one_of(
    st.builds(inbound.StreamAck, REQUESTS, SEQS),
    st.builds(inbound.StreamClosed, REQUESTS),
)
on_streams_by_workers: SearchStrategy[Message] = st.one_of(
    st.builds(inbound.StreamData, REQUESTS, SEQS, st.just(body.from_bytes(b"x" * 30))),
    st.builds(inbound.StreamEnd, REQUESTS, SEQS),
    st.builds(inbound.StreamAbort, REQUESTS, SEQS, st.sampled_from(get_args(AbortCode))),
)
of_agents: SearchStrategy[Message] = st.one_of(
    on_streams_by_agents,
    starts,
    contents,
    passed,
    batches,
    st.builds(inbound.RequestCancel, REQUESTS),
    _outcomes(inbound.FetchResult, REQUESTS, FETCHES),
    _outcomes(inbound.RequestResponse, REQUESTS),
    st.builds(
        inbound.RequestResponse, REQUESTS, st.just(value=True), responses, body_pending=maybe
    ),
    st.builds(
        inbound.RequestObserve,
        REQUESTS,
        clients,
        requests,
        REQUESTS | st.just(UNSET),
        carried,
        maybe,
    ),
    st.builds(inbound.SocketOpen, SOCKETS, st.just("ws://h.test/"), st.just([]), clients, carried),
    st.builds(local_reports.ContextSeen, carried.filter(bool)),
    st.builds(local_reports.LibraryUnhooked, st.sampled_from(["fastq", "pg"]), st.just("/b.js")),
    st.builds(local_reports.RequestIgnored, st.just("GET"), st.just("http://h.test/"), carried),
    on_sockets_by_agents,
)
of_workers: SearchStrategy[Message] = st.one_of(
    on_streams_by_workers,
    st.builds(
        inbound.TestRegister,
        TESTS,
        st.just("title"),
        st.just("file"),
        st.just("0"),
        claimed,
        st.just("worker") | st.just(UNSET),
        strict=st.builds(inbound.Strict, allowed) | st.just(UNSET),
    ),
    st.builds(inbound.TestStrict, TESTS, allowed | st.just(UNSET)),
    st.builds(inbound.RunStrict, st.just("q"), allowed),
    st.builds(inbound.UnmatchedQuery, st.just("q")),
    st.builds(inbound.TestUnregister, TESTS),
    st.builds(inbound.TestSubscribe, TESTS),
    st.builds(inbound.RouteRegister, ROUTES, TESTS, matchers, kinds, times=times),
    registrations,
    st.builds(
        inbound.RouteUnregister,
        ROUTES | st.just(UNSET),
        TESTS | st.just(UNSET),
        st.sampled_from([UNSET, UNSET, "default", "wait", "ignoreErrors"]),
    ),
    st.builds(inbound.RequestClaimResult, REQUESTS, TESTS, matches),
    st.builds(inbound.SocketClaimResult, SOCKETS, TESTS, matches),
    st.builds(inbound.HandlerResult, REQUESTS, actions),
    st.builds(inbound.HistoryQuery, st.just("h")),
    st.builds(inbound.DiagnosisQuery, st.just("d"), TESTS, st.just([]), st.just({}), st.just({})),
    st.builds(GlobQuery, st.just("g"), st.sampled_from(["cup", "**/{a"])),
    st.builds(RedactQuery, st.just("p")),
    st.builds(inbound.ReportQuery, st.just("p"), st.just(10), TESTS | st.just(UNSET)),
    on_sockets_by_workers,
    st.builds(
        wait_messages.WaitRegister,
        WAITS,
        TESTS,
        st.sampled_from(["request", "response"]),
        matchers,
        st.sampled_from([0, 10, UNSET]),
        st.sampled_from([0, 1_000_000_000, UNSET]),
        REQUESTS | st.just(UNSET),
    ),
    st.builds(wait_messages.WaitJudged, WAITS, REQUESTS, st.booleans()),
    st.builds(wait_messages.WaitCancel, WAITS),
)
of_both: SearchStrategy[Message] = st.one_of(
    st.builds(inbound.Ping, st.just(1)),
    st.builds(inbound.Pong, st.just(1)),
    st.builds(inbound.AgentError, st.just("x")),
)
hellos = st.builds(
    inbound.Hello,
    st.sampled_from([3, 3, 3, 3, 3, 3, 3, 2]),
    st.just("0.1.0"),
    ROLES,
    clients | st.just(UNSET),
    features=FEATURES | st.just(UNSET),
)
messages = of_agents | of_workers | of_both | acknowledgements


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    """Write a message with one key missing, ``null``, or of another type."""
    document = to_plain(draw(messages))
    holder = draw(
        st.sampled_from([document, *(v for v in document.values() if isinstance(v, dict))])
    )
    if holder:
        key = draw(st.sampled_from(sorted(holder)))
        value: Any = draw(st.sampled_from(["missing", None, 7, [], "\ud800"]))
        if value == "missing":
            del holder[key]
        else:
            holder[key] = value
    return json.dumps(document).encode()
