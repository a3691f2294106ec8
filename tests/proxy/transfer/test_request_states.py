"""A request through the forward proxy among events in any order: legal ones and all others."""

import re
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec import UNSET
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.logger import LogLevel, globalLogPublisher
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport, ForwardProxyHarness, refused
from tests.support.hypothesis_profiles import profile
from tests.support.state_machines import run_machine
from trafficmock.proxy.proxy_clients import ProxyClient
from trafficmock.proxy.transfer.proxied_request import ProxiedRequest
from trafficmock.proxy.transfer.request_states import BodyState, ProxiedRequestState, TransferState
from trafficmock.proxy.transfer.upstream_transfer import UpstreamTransfer
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body as bodies
from trafficmock.wire.payloads.answer import BodyWay
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import SerializedResponse

HEADS = {
    "get": b"GET http://api.test/x HTTP/1.1\r\nHost: api.test\r\n\r\n",
    "old": b"GET http://api.test/x HTTP/1.0\r\nHost: api.test\r\n\r\n",
    "post": b"POST http://api.test/x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 20\r\n\r\n",
    "expects": b"PUT http://api.test/x HTTP/1.1\r\nHost: api.test\r\nExpect: 100-continue\r\n"
    b"Content-Length: 20\r\n\r\n",
    "chunked": b"POST http://api.test/x HTTP/1.1\r\nHost: api.test\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n",
}
"""Heads of requests, by kind."""

FROM_CLIENT = [b"0123456789", b"5\r\nhello\r\n", b"0\r\n\r\n", b"?" * 40, HEADS["get"]]

FROM_SERVER = [
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n",
    b"hello",
    b"0\r\n\r\n",
    b"no HTTP\r\n\r\n",
]

ID = "the request"
ANSWER = SerializedResponse(200, "OK", {}, bodies.from_bytes(b"mocked"))
INVALID = SerializedResponse(200, "OK", {"a b": "c"}, bodies.NULL)

WAYS = [
    BodyWay("stall", 3),
    BodyWay("connection_reset", 3),
    BodyWay("truncated", 3),
    BodyWay("malformed_chunk", 3),
    BodyWay("empty_response", 0),
    BodyWay(slice=2, pause=100),
]
"""What happens to the body of an answer."""

NEED_BODY = outbound.NeedBody(ID)
PASS_ON = outbound.DecisionPassthrough(ID)
STREAM = outbound.DecisionFulfill(ID, ANSWER, stream=True)
HOLD = outbound.DecisionAbort(ID, "timedout")
BROKEN = outbound.DecisionContinue(ID, way=WAYS[0])

MESSAGES = [
    PASS_ON,
    outbound.DecisionContinue(ID),
    outbound.DecisionContinue(ID, SerializedOverrides(url="http://other.test/")),
    outbound.DecisionContinue(ID, SerializedOverrides(headers={"a b": "c"})),
    *(outbound.DecisionContinue(ID, way=way) for way in WAYS),
    outbound.DecisionFulfill(ID, ANSWER),
    outbound.DecisionFulfill(ID, INVALID),
    STREAM,
    outbound.DecisionFulfill(ID, INVALID, stream=True),
    *(outbound.DecisionFulfill(ID, ANSWER, way=way) for way in WAYS if way.then),
    HOLD,
    outbound.DecisionAbort(ID, "connectionreset"),
    outbound.DecisionAbort(ID, "namenotresolved", "no such host"),
    outbound.DecisionFetch(ID, "f1"),
    outbound.DecisionError(ID, "ambiguous_route", "Two tests have a route."),
    NEED_BODY,
    inbound.StreamData(ID, 1, bodies.from_bytes(b"piece")),
    inbound.StreamEnd(ID, 2),
    inbound.StreamAbort(ID, 2, "failed"),
]
"""The messages of the coordinator about a request."""

HEAD = re.compile(rb"HTTP/1\.1 ([2-5]\d\d)")
MALFORMED = {b"400", b"408", b"431"}

ENDS = ["client leaves", "service stops", "handling crashes", *["none"] * 20]
"""What ends a request; mostly nothing does, so that more can happen."""

IN_TIME = [0.1, 1.0, 31.0]


class AnyEvents(RuleBasedStateMachine):
    """One request whose client, server, coordinator and service do anything at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0
        self.requests: list[ProxiedRequest] = []
        self.sent: list[Any] = []
        self.failures: list[Any] = []
        self.steps: list[tuple[Any, Any]] = []
        self.patches = [
            patch.object(ProxyClient, "send", lambda _, message: self.sent.append(message)),
            patch.object(ProxiedRequest, "announce", self._kept()),
            patch.object(ProxiedRequest, "_enter", self._spied(ProxiedRequest._enter, "state")),
            patch.object(
                ProxiedRequest, "_enter_body", self._spied(ProxiedRequest._enter_body, "body_state")
            ),
            patch.object(UpstreamTransfer, "_enter", self._spied(UpstreamTransfer._enter, "state")),
        ]
        for each in self.patches:
            each.start()
        observer: Any = self._observe
        self.observer = observer
        globalLogPublisher.addObserver(self.observer)

    def _kept(self) -> Any:
        announce = ProxiedRequest.announce

        def spy(request: ProxiedRequest, content: bytes | None) -> None:
            self.requests.append(request)
            request.most_bytes = self.most
            announce(request, content)

        return spy

    def _spied(self, enter: Any, name: str) -> Any:
        def spy(this: Any, state: Any) -> Any:
            before = getattr(this, name)
            allowed = enter(this, state)
            if allowed:
                self.steps.append((before, state))
            return allowed

        return spy

    def _observe(self, event: Any) -> None:
        if event.get("log_level") in {LogLevel.error, LogLevel.critical}:
            self.failures.append(event)

    @initialize(
        kind=st.sampled_from(sorted(HEADS)),
        slow=st.booleans(),
        most=st.sampled_from([0, 12]),
        with_body=st.booleans(),
        first=st.sampled_from([None, NEED_BODY, PASS_ON, STREAM, HOLD, BROKEN]),
        answer=st.booleans(),
    )
    def begin(
        self, *, kind: str, slow: bool, most: int, with_body: bool, first: Any, answer: bool
    ) -> None:
        """Begin a request that has one of its longer lives ahead, as far as ``first`` says."""
        self.harness = ForwardProxyHarness()
        self.harness.dialer.slow = [] if slow else None
        self.most = most
        self.client = self.harness.connect()
        self.client.sends(HEADS[kind] + (b"0123456789" if with_body else b""))
        self.request = self.requests[0]
        if first is not None:
            self.request.on_message(first)
        if answer and self.server is not None:
            self.server_sends(FROM_SERVER[1])

    @property
    def server(self) -> FakeTransport | None:
        alive = [each for each in self.harness.servers if each.protocol is not None]
        return alive[-1] if alive else None

    @rule(data=st.sampled_from(FROM_CLIENT))
    def client_sends(self, data: bytes) -> None:
        if self.client.protocol is not None and not self.client.paused:
            self.client.sends(data)

    @rule(end=st.sampled_from(ENDS))
    def ends(self, end: str) -> None:
        if end == "client leaves":
            self.client.lose()
        elif end == "service stops":
            self.request.stopped()
        elif end == "handling crashes":
            self.request.crashed()

    @rule(message=st.sampled_from(MESSAGES))
    def coordinator_sends(self, message: Any) -> None:
        self.request.on_message(message)

    @precondition(lambda self: self.server is not None)
    @rule(data=st.sampled_from(FROM_SERVER))
    def server_sends(self, data: bytes) -> None:
        if (server := self.server) is not None and not server.paused:
            server.sends(data)

    @precondition(lambda self: self.server is not None)
    @rule(reason=st.sampled_from([ConnectionDone, ConnectionLost]))
    def server_leaves(self, reason: type[Exception]) -> None:
        if (server := self.server) is not None:
            server.lose(reason())

    @precondition(lambda self: self.harness.dialer.slow)
    @rule()
    def server_refuses(self) -> None:
        waiting = self.harness.dialer.slow or []
        found = waiting.pop(0)
        if not found.called:
            found.errback(refused())

    @rule(seconds=st.sampled_from(IN_TIME))
    def time_passes(self, seconds: float) -> None:
        self.harness.core.clock.advance(seconds)

    @invariant()
    def nothing_fails(self) -> None:
        assert not self.failures, self.failures

    @invariant()
    def answers_once(self) -> None:
        """At most one message ends the request for the coordinator, and none follows it."""
        mine = [each for each in self.sent if getattr(each, "request_id", None) == self.request.id]
        ends = [index for index, each in enumerate(mine) if _ends(each)]
        assert len(ends) <= 1, mine
        assert not ends or ends[0] == len(mine) - 1, mine

    @invariant()
    def client_gets_one_answer(self) -> None:
        """No response begins within or behind another one, but those to malformed requests."""
        heads = [head for head in HEAD.findall(self.client.value()) if head not in MALFORMED]
        assert len(heads) <= len(self.requests), self.client.value()

    @invariant()
    def states_are_of_the_table(self) -> None:
        assert all(after in before.following for before, after in self.steps), self.steps

    def teardown(self) -> None:
        try:
            self.client.lose()
            self.harness.core.clock.advance(0)
            transfer = self.request._transfer
            assert self.request.state is ProxiedRequestState.SETTLED, self.request
            assert transfer is None or transfer.state is TransferState.OVER, transfer
            assert self.request._timer is None
            assert not self.request._fetches
            proxy_client = self.request.proxy_client
            assert proxy_client is not None
            assert self.request.id not in proxy_client.receivers
            self.nothing_fails()
        finally:
            globalLogPublisher.removeObserver(self.observer)
            for each in self.patches:
                each.stop()


def _ends(message: Any) -> bool:
    """Return whether a message to the coordinator says that the request is over."""
    if isinstance(message, inbound.RequestResponse):
        return message.body_pending is UNSET
    return isinstance(message, inbound.RequestCancel | inbound.StreamClosed)


class RequestStateTests(SynchronousTestCase):
    """The tables hold, whatever comes."""

    def test_any_events(self) -> None:
        """No event is without an answer, and nothing is left behind."""
        run_machine(AnyEvents, profile(300, steps=15))

    def test_states_are_reachable(self) -> None:
        """Each table names all states, and each state but the first follows another one."""
        for states in (ProxiedRequestState, BodyState, TransferState):
            first = next(iter(states))
            reached = {each for state in states for each in state.following}
            self.assertEqual(reached | {first}, set(states))
