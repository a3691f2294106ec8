"""What the tests of strict mode share."""

from collections.abc import Sequence
from typing import Any

from attrs import evolve
from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import glob, open_socket, start
from tests.support.playbook import SETTINGS, Peer, Playbook, WorkerPeer
from trafficmock.core.effects import Effects, Send
from trafficmock.records import RequestFailed, RequestPassedThrough, SocketFailed
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import refused_request
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher

A, B = "a" * 32, "b" * 32
OF_WORKERS = ("chain", "context", "strict", "subscribe")
OF_AGENTS = ("context", "strict")
URL = "https://api.test/v1/charges"


class StrictCase(SynchronousTestCase):
    """An agent and two workers, all with the feature."""

    def setUp(self) -> None:
        self.begin()

    def begin(self, **settings: Any) -> None:
        """Make a playbook of its own, without tests yet."""
        self.playbook = Playbook(self, evolve(SETTINGS, **settings))
        self.agent = self.playbook.agent("shop", features=OF_AGENTS)
        self.worker = self.playbook.worker("0", features=OF_WORKERS)
        self.other = self.playbook.worker("1", features=OF_WORKERS)

    def registers(
        self,
        test_id: str = "buys",
        *,
        context: str | None = A,
        allow: Sequence[str | SerializedMatcher] | None = (),
        worker: WorkerPeer | None = None,
        shared: bool = False,
    ) -> None:
        """Register a test.

        :param allow: what it allows; ``None`` for a test that is not strict.
        """
        worker = worker or self.worker
        scope: Any = "worker" if shared else UNSET
        strict = UNSET if allow is None else inbound.Strict(list(allow))
        worker.sends(
            inbound.TestRegister(
                test_id,
                test_id,
                f"{test_id}.py",
                worker.id[-1],
                context or UNSET,
                scope,
                strict=strict,
            )
        )
        registered = outbound.TestRegistered(test_id, self.playbook.now().epoch_ms)
        self.playbook.expect(worker.gets(registered))

    def routes(
        self,
        matcher: str | SerializedMatcher,
        route_id: str = "q1",
        *,
        test_id: str = "buys",
        worker: WorkerPeer | None = None,
        kind: inbound.RouteKind = "http",
        place: str | None = None,
    ) -> None:
        """Register a route."""
        worker = worker or self.worker
        wanted = glob(matcher) if isinstance(matcher, str) else matcher
        worker.sends(inbound.RouteRegister(route_id, test_id, wanted, kind, place or UNSET))
        self.playbook.expect(worker.gets(outbound.RouteRegistered(route_id)))

    def asks(
        self,
        url: str = URL,
        *,
        method: str = "POST",
        context: str | None = A,
        request_id: str = "r1",
        agent: Peer | None = None,
    ) -> Effects:
        """Let an application send a request, and give what came of it."""
        message = start(request_id, url, "shop")
        request = structs.replace(message.request, method=method)
        message = structs.replace(message, request=request, context=context or UNSET)
        (agent or self.agent).sends(message)
        return self.playbook.take()

    def opens(self, url: str, *, context: str | None = A) -> Effects:
        """Let an application open a WebSocket, and give what came of it."""
        message = open_socket("s1", url)
        self.agent.sends(structs.replace(message, client_id="shop", context=context or UNSET))
        return self.playbook.take()

    def assert_passed(self, effects: Effects, what: object = None) -> None:
        passed = [e for e in effects if isinstance(e, RequestPassedThrough)]
        self.assertEqual(len(passed), 1, what)

    def refused(self, effects: Effects) -> str:
        """Give the text of a refusal, which application and history have alike."""
        (failed,) = [e for e in effects if isinstance(e, RequestFailed | SocketFailed)]
        self.assertEqual(failed.code, "unmatched_request")
        (decision,) = [
            message
            for message in messages(effects, self.agent)
            if isinstance(message, outbound.DecisionError | outbound.SocketError)
        ]
        self.assertEqual((decision.code, decision.message), (failed.code, failed.message))
        return failed.message

    def told(self, effects: Effects, worker: WorkerPeer | None = None) -> list[outbound.ProxyError]:
        """List the errors that a worker is sent."""
        sent = messages(effects, worker or self.worker)
        return [each for each in sent if isinstance(each, outbound.ProxyError)]

    def detail(self, effects: Effects) -> refused_request.UnmatchedDetail:
        """Give what the worker of the test is told, and see that it is told once."""
        (error,) = self.told(effects)
        self.assertEqual((error.code, error.test_id), ("unmatched_request", "buys"))
        self.assertEqual(error.message, f"{self.refused(effects)} It was sent by client shop.")
        assert isinstance(error.detail, refused_request.UnmatchedDetail)
        return error.detail


def messages(effects: Effects, peer: Peer) -> list[inbound.Message]:
    return [e.message for e in effects if isinstance(e, Send) and peer.id in e.to]
