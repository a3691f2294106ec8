"""Watches everything that a coordinator does, and objects to what must never happen.

It knows nothing of why: it only counts what was accepted, decided, recorded and
passed on. Playbooks and the stateful test keep one.
"""

from attrs import define, field

from tests.support.invariants.chain_invariants import ChainInvariants
from tests.support.invariants.context_invariants import ContextInvariants
from tests.support.invariants.reply_invariants import ReplyInvariants
from tests.support.invariants.request_invariants import RequestInvariants
from tests.support.invariants.strict_invariants import StrictInvariants
from tests.support.invariants.subscription_invariants import SubscriptionInvariants
from tests.support.invariants.wait_invariants import WaitInvariants
from tests.support.invariants.websocket_invariants import SocketInvariants
from trafficmock.core.effects import CloseConnection, Effects, Send
from trafficmock.wire import agent_filter, inbound, outbound
from trafficmock.wire.client_message import GlobResult
from trafficmock.wire.outbound import TestWarning
from trafficmock.wire.waits import wait_messages

FOR_ANYBODY = (
    outbound.HelloOk,
    outbound.HelloError,
    outbound.ProxyError,
    inbound.Ping,
    inbound.Pong,
    inbound.ClosePage,
    inbound.CloseServer,
)
FOR_AGENTS = (
    *FOR_ANYBODY,
    outbound.NeedBody,
    outbound.DecisionPassthrough,
    outbound.DecisionFulfill,
    outbound.DecisionContinue,
    outbound.DecisionAbort,
    outbound.DecisionFetch,
    outbound.DecisionError,
    agent_filter.FilterSet,
    agent_filter.FilterAdd,
    agent_filter.FilterDrop,
    agent_filter.Origins,
    agent_filter.Sync,
    outbound.SocketPassthrough,
    outbound.SocketError,
    inbound.SocketConnect,
    inbound.SocketEnsureOpened,
    inbound.SendToPage,
    inbound.SendToServer,
    inbound.StreamData,
    inbound.StreamEnd,
    inbound.StreamAbort,
)
FOR_WORKERS = (
    *FOR_ANYBODY,
    outbound.TestRegistered,
    outbound.TestSubscribed,
    outbound.TestStricted,
    outbound.TestUnregistered,
    outbound.RunStricted,
    outbound.Unmatched,
    outbound.RouteRegistered,
    outbound.RouteUnregistered,
    outbound.RequestObserved,
    outbound.RequestClaim,
    outbound.RequestMatched,
    outbound.HandlerRun,
    outbound.RequestReplied,
    GlobResult,
    outbound.RouteExpired,
    outbound.FetchDone,
    outbound.SocketClaim,
    outbound.SocketMatched,
    inbound.RequestResponse,
    inbound.MessageFromPage,
    inbound.MessageFromServer,
    inbound.StreamAck,
    inbound.StreamClosed,
    wait_messages.WaitJudge,
    wait_messages.WaitMet,
    wait_messages.WaitOverdue,
    TestWarning,
)


@define
class Invariants:
    """Who is connected, and what became of each request and WebSocket."""

    agents: set[str] = field(factory=set)
    workers: set[str] = field(factory=set)
    requests: RequestInvariants = field(factory=RequestInvariants)
    sockets: SocketInvariants = field(factory=SocketInvariants)
    subscriptions: SubscriptionInvariants = field(factory=SubscriptionInvariants)
    contexts: ContextInvariants = field(factory=ContextInvariants)
    strict: StrictInvariants = field(factory=StrictInvariants)
    replies: ReplyInvariants = field(factory=ReplyInvariants)
    chains: ChainInvariants = field(factory=ChainInvariants)
    waits: WaitInvariants = field(factory=WaitInvariants)

    def leaving(self, connection_id: str) -> None:
        """Note that a connection is not there any more to be told anything."""
        self.agents.discard(connection_id)
        self.workers.discard(connection_id)
        self.requests.leaving(connection_id)
        self.subscriptions.left(connection_id)
        self.waits.left(connection_id)
        self.contexts.left(connection_id)

    def left(self, connection_id: str) -> None:
        """Note that all is done that a lost connection leads to."""
        self.leaving(connection_id)
        self.requests.left(connection_id)
        # What an agent has asked is decided after its connection is lost, over several turns.
        self.strict.left(connection_id)

    def took(self, effects: Effects, sender: str | None, cause: object) -> None:
        """Check what an event led to.

        :param sender: the connection that the event came from, if any.
        :param cause: its message, or the error that its message was.
        """
        for effect in effects:
            if isinstance(effect, Send):
                self._addressed(effect, cause)
        closed = {effect.connection_id for effect in effects if isinstance(effect, CloseConnection)}
        # Who says hello again is gone before its affairs are wound up.
        present = self.agents - closed if isinstance(cause, inbound.Hello) else self.agents
        self.requests.took(effects, sender, cause, present)
        self.sockets.took(effects, sender, cause, present)
        self.subscriptions.took(effects, sender, cause)
        self.contexts.took(effects, sender, cause)
        self.strict.took(effects)
        self.replies.took(effects, sender, cause)
        self.chains.took(effects, sender, cause)
        self.waits.took(effects, sender, cause)
        for connection_id in closed:
            self.leaving(connection_id)

    def _addressed(self, send: Send, cause: object) -> None:
        """Check that nobody is told what its role does not know."""
        assert send.to, f"to nobody: {send}"
        assert len(set(send.to)) == len(send.to), f"twice to the same: {send}"
        if isinstance(send.message, outbound.HelloOk):
            assert isinstance(cause, inbound.Hello)
            (self.agents if cause.role == "node" else self.workers).add(send.to[0])
        for connection_id in send.to:
            if connection_id in self.agents:
                assert isinstance(send.message, FOR_AGENTS), f"not for agents: {send}"
            elif connection_id in self.workers:
                assert isinstance(send.message, FOR_WORKERS), f"not for workers: {send}"
