"""An agent that reports contexts, and the workers of two tests."""

from typing import Any, TypeVar

from attrs import evolve
from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    abort,
    request,
    start,
)
from tests.support.playbook import SETTINGS, Playbook, RegisteredTest, WorkerPeer
from trafficmock.core.effects import Effects, Send
from trafficmock.records import CarriedContext, RequestPassedThrough, RequestSeen
from trafficmock.wire import inbound, outbound

A, B, UNKNOWN = "a" * 32, "b" * 32, "c" * 32
OURS = ("context", "headers-list", "subscribe")
"""The features of a test worker of ours."""


M = TypeVar("M", bound=inbound.Message)


class ContextCase(SynchronousTestCase):
    """An agent and two workers with the feature, each with a test and a context."""

    def setUp(self) -> None:
        self.begin()

    def begin(self, **settings: Any) -> None:
        self.playbook = Playbook(self, evolve(SETTINGS, **settings))
        self.agent = self.playbook.agent(features=["context", "stream"])
        self.mine, self.theirs = (
            self.playbook.worker("0", features=OURS),
            self.playbook.worker("1", features=OURS),
        )
        self.a, self.b = (
            self.registered(self.mine, "buys", A),
            self.registered(self.theirs, "sells", B),
        )

    def registered(
        self,
        worker: WorkerPeer,
        title: str,
        context: str | None = None,
        *,
        shared: bool = False,
        scope: Any = UNSET,
    ) -> RegisteredTest:
        """Register a test of a worker that is told the time."""
        scope = "worker" if shared else scope
        worker.sends(
            inbound.TestRegister(
                title, title, f"{title}.py", worker.id[-1], context or UNSET, scope
            )
        )
        self.playbook.expect(
            worker.gets(outbound.TestRegistered(title, self.playbook.now().epoch_ms))
        )
        return RegisteredTest(worker, title)

    def starts(self, context: str | None = A, request_id: str = "r1", **changes: Any) -> None:
        message = start(request_id)
        self.agent.sends(structs.replace(message, context=context or UNSET, **changes))

    def sent(self, kind: type[M]) -> list[tuple[tuple[str, ...], M]]:
        """Give the messages of one kind that the last event led to, and to whom."""
        return [
            (each.to, each.message)
            for each in self.playbook.take()
            if isinstance(each, Send) and isinstance(each.message, kind)
        ]

    def owner(self, context: str | None = A, request_id: str = "r1") -> str | None:
        """Start a request, let the owner abort it, and tell which test got it at once."""
        self.starts(context, request_id)
        matched = self.sent(outbound.RequestMatched)
        if not matched:
            return None
        ((connection, *_), match) = matched[0]
        owner = self.mine if connection == self.mine.id else self.theirs
        owner.sends(abort(request_id))
        self.playbook.take()
        return match.test_id

    def passes(self, *also: str, request_id: str = "r1", carried: CarriedContext | None) -> Effects:
        """Write what a request leads to that nobody gets."""
        return [
            RequestSeen(request_id, "app", request(), carried=carried),
            RequestPassedThrough(request_id, also),
            self.agent.gets(outbound.DecisionPassthrough(request_id)),
        ]
