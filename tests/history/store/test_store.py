"""Any order of calls: nothing raises, bounds hold, accounts are true."""

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec import UNSET, Raw
from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import (
    NO_QUERY,
    OWNER,
    close,
    diagnostic,
    frame,
)
from tests.support.hypothesis_profiles import profile
from tests.support.state_machines import run_machine
from trafficmock import records
from trafficmock.history.har.har_export import har_available, to_har
from trafficmock.history.query import Query
from trafficmock.history.rows import Rows
from trafficmock.history.store import History
from trafficmock.history.websocket_entry import frame_size
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse

IDS = st.sampled_from("abcdefgh")
BODIES = st.integers(0, 70).map(lambda n: Raw(b'"' + b"A" * n + b'"') if n else Raw(b"null")) | (
    st.binary(min_size=1, max_size=70)
)
OWNERS = st.sampled_from([OWNER, None])
# Text as JavaScript has it: lone surrogates included.
TEXTS = st.text(st.characters(), max_size=8)
HEADERS = st.dictionaries(TEXTS, TEXTS, max_size=2)
PAIRS = st.one_of(st.just(UNSET), st.lists(st.tuples(TEXTS, TEXTS), max_size=2))
REQUESTS = st.builds(SerializedRequest, TEXTS, TEXTS, HEADERS, BODIES, PAIRS)
RESPONSES = st.builds(
    SerializedResponse, st.integers(0, 599), TEXTS, HEADERS, BODIES, st.just(UNSET), PAIRS
)
OVERRIDES = st.builds(SerializedOverrides, st.one_of(st.just(UNSET), TEXTS), body_base64=BODIES)
MATCHES = st.sampled_from([None, [diagnostic()], [diagnostic("\ud800"), diagnostic()]])
OPTIONAL = st.one_of(st.none(), TEXTS)


class HistoryMachine(RuleBasedStateMachine):
    """Does everything in any order."""

    capture: Any = "all"
    http_limit, socket_limit, byte_limit = 4, 3, 300

    def __init__(self) -> None:
        super().__init__()
        self.history = History(
            capture=self.capture,
            http_limit=self.http_limit,
            socket_limit=self.socket_limit,
            byte_limit=self.byte_limit,
        )
        self.now = 0

    def tick(self) -> int:
        self.now += 1
        return self.now

    @rule(key=IDS, request=REQUESTS)
    def observe(self, key: str, request: SerializedRequest) -> None:
        self.history.record(records.RequestSeen(key, "app", request), self.tick())

    @rule(key=IDS)
    def pass_through(self, key: str) -> None:
        self.history.record(records.RequestPassedThrough(key), self.tick())

    @rule(key=IDS, overrides=st.one_of(st.none(), OVERRIDES))
    def go_on(self, key: str, overrides: SerializedOverrides | None) -> None:
        self.history.record(records.RequestContinued(key, OWNER, overrides), self.tick())

    @rule(key=IDS, response=RESPONSES)
    def fulfill(self, key: str, response: SerializedResponse) -> None:
        self.history.record(records.RequestFulfilled(key, OWNER, response), self.tick())

    @rule(key=IDS, owner=OWNERS, code=TEXTS, detail=TEXTS)
    def abort(self, key: str, owner: Any, code: str, detail: str) -> None:
        self.history.record(records.RequestAborted(key, owner, code, detail), self.tick())

    @rule(key=IDS, owner=OWNERS, message=TEXTS, matches=MATCHES)
    def fail(self, key: str, owner: Any, message: str, matches: Any) -> None:
        self.history.record(
            records.RequestFailed(key, owner, "internal", message, matches), self.tick()
        )

    @rule(key=IDS, response=RESPONSES)
    def report(self, key: str, response: SerializedResponse) -> None:
        self.history.record(records.ResponseReported(key, response, None), self.tick())

    @rule(key=IDS, message=TEXTS)
    def report_failure(self, key: str, message: str) -> None:
        self.history.record(
            records.ResponseReported(key, None, SerializedError("Error", message)), self.tick()
        )

    @rule(
        key=IDS,
        prior=st.one_of(st.none(), IDS),
        request=REQUESTS,
        action=st.sampled_from(["continue", "passthrough"]),
        owner=OWNERS,
    )
    def hop(
        self, key: str, prior: Any, request: SerializedRequest, action: Any, owner: Any
    ) -> None:
        self.history.record(records.HopSeen(key, "app", request, prior, action, owner), self.tick())

    @rule(key=IDS, url=TEXTS, protocols=st.lists(TEXTS, max_size=2))
    def open(self, key: str, url: str, protocols: list[str]) -> None:
        self.history.record(records.SocketSeen(key, "app", url, protocols), self.tick())

    @rule(key=IDS)
    def match_socket(self, key: str) -> None:
        self.history.record(records.SocketOwned(key, OWNER), self.tick())

    @rule(key=IDS)
    def pass_socket(self, key: str) -> None:
        self.history.record(records.SocketPassedThrough(key), self.tick())

    @rule(key=IDS, owner=OWNERS, message=TEXTS, matches=MATCHES)
    def fail_socket(self, key: str, owner: Any, message: str, matches: Any) -> None:
        self.history.record(
            records.SocketFailed(key, owner, "internal", message, matches), self.tick()
        )

    @rule(key=IDS, detail=OPTIONAL, data=st.one_of(st.none(), TEXTS, st.just("x" * 90)))
    def frame(self, key: str, detail: str | None, data: str | None) -> None:
        frame(self.history, data, self.tick(), socket_id=key, detail=detail)

    @rule(key=IDS, side=st.sampled_from(["page", "server"]), reason=OPTIONAL)
    def close(self, key: str, side: Any, reason: str | None) -> None:
        close(self.history, side, self.tick(), code=1000, reason=reason, socket_id=key)

    @rule(text=TEXTS, limit=st.one_of(st.none(), st.integers(0, 3)), offset=st.integers(0, 3))
    def read(self, text: str, limit: int | None, offset: int) -> None:
        query = Query(q=text, limit=limit, offset=offset)
        for request in self.history.requests.query(query):
            assert json.loads(request.to_json())["id"] == request.id
            assert json.loads(request.summary_json())["action"] == request.action
            if har_available(request):
                json.dumps(to_har(request, version="1"))
        for socket in self.history.sockets.query(query):
            assert json.loads(socket.to_json())["outcome"] == socket.action
            assert json.loads(socket.summary_json())["id"] == socket.id

    @invariant()
    def bounds_hold(self) -> None:
        assert len(self.history.requests) <= self.http_limit
        assert len(self.history.sockets) <= self.socket_limit
        assert self.history.requests.budget.used <= self.byte_limit

    @invariant()
    def accounts_are_true(self) -> None:
        budget = self.history.requests.budget
        bodies = [
            body.stored
            for request in self.history.requests._by_id.values()
            for body in request.bodies()
            if not body.truncated
        ]
        frames = [
            event.data
            for socket in self.history.sockets._by_id.values()
            for event in socket.events
            if event.data
        ]
        assert budget.used == sum(map(len, bodies)) + sum(map(frame_size, frames))
        assert budget.used == sum(size for _, size in budget._parts.values())
        assert len(budget) == len(bodies) + len(frames)

    @invariant()
    def tables_agree(self) -> None:
        for rows in (self.history.requests, self.history.sockets):
            self.agree(rows)

    def agree(self, rows: Rows[Any]) -> None:
        entries = list(rows._by_id.values())
        assert sorted(rows._by_serial) == sorted(entry.serial for entry in entries)
        assert set(rows._pending) == {entry.serial for entry in entries if entry.pending}
        assert set(rows._by_serial) - set(rows._pending) <= set(rows._settled)
        assert rows.weight == sum(entry.weight for entry in entries)
        shown = list(rows.query(NO_QUERY))
        assert len(shown) == len(rows)
        assert [e.timestamp for e in shown] == sorted((e.timestamp for e in shown), reverse=True)


class HandledMachine(HistoryMachine):
    """The same while pending rows are hidden."""

    capture = "handled"

    @invariant()
    def no_passthrough(self) -> None:
        for request in self.history.requests.query(NO_QUERY):
            assert request.action not in {"pending", "passthrough"}


class NoneMachine(HistoryMachine):
    """The same while nothing is kept."""

    capture = "none"

    @invariant()
    def nothing(self) -> None:
        assert not self.history.requests._by_id
        assert not self.history.sockets._by_id


class HistoryTests(SynchronousTestCase):
    """The history as a whole."""

    def run_machine(self, machine: type[HistoryMachine]) -> None:
        run_machine(machine, profile(30, steps=40))

    def test_all(self) -> None:
        """No order of calls raises, passes a bound or falsifies an account."""
        self.run_machine(HistoryMachine)

    def test_handled(self) -> None:
        """The same holds in ``handled``, where no pending or passthrough row is ever shown."""
        self.run_machine(HandledMachine)

    def test_none(self) -> None:
        """In ``none`` no order of calls leaves anything."""
        self.run_machine(NoneMachine)

    def test_event_ids(self) -> None:
        """Event ids begin with the prefix of the start and are unique within it."""
        history = History(event_prefix="k7-")
        history.record(records.SocketSeen("s", "app", "ws://x/", []), 1)
        frame(history, "x", 2)
        entry = history.sockets.get("s")
        assert entry is not None
        self.assertEqual([event.id for event in entry.events], ["k7-2", "k7-1"])
