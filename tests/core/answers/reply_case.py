"""An agent, and a worker that leaves fixed answers with the coordinator."""

from msgspec import Raw, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    URL,
    fulfill,
    request,
    response,
    start,
)
from tests.support.playbook import Playbook
from trafficmock import records
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import outbound
from trafficmock.wire.payloads import body

FEATURES = ("chain", "context", "headers-list", "strict", "subscribe")
ANSWER = structs.replace(
    response(203, b"", **{"x-a": "b", "content-length": "5"}),
    body_base64=Raw(body.to_text(b"fixed")),
)
"""As it is kept: with its body as it came in a message."""


class ReplyCase(SynchronousTestCase):
    """An agent and a worker whose test has a reply."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent = self.playbook.agent(features=("context", "stream"))
        self.worker = self.playbook.worker("0", features=FEATURES)
        self.test = self.worker.test("buys")

    def replied(self, route_id: str = "buys#1", request_id: str = "r1", url: str = URL) -> Effects:
        """Write what a reply leads to, after what announces the request."""
        test_id = route_id.partition("#")[0]
        told = outbound.RequestReplied(request_id, request(url), "app", route_id, test_id)
        return [self.worker.gets(told), *self.answered(route_id, request_id, url)]

    def answered(self, route_id: str, request_id: str = "r1", url: str = URL) -> Effects:
        test_id = route_id.partition("#")[0]
        owner = records.Owner(test_id, route_id, test_id, f"{test_id}.spec.ts")
        answer = structs.replace(ANSWER, url=url)
        decision = outbound.DecisionFulfill(request_id, answer)
        fulfilled = records.RequestFulfilled(request_id, owner, answer)
        return [self.playbook.with_route(fulfilled), self.agent.gets(decision)]

    def runs(self, route_id: str, run_id: str = "1", request_id: str = "r1") -> Send:
        return self.worker.gets(
            outbound.HandlerRun(request_id, request(), "app", run_id, route_id, "buys")
        )

    def fulfills(self, request_id: str = "r1", run_id: str = "1") -> None:
        self.worker.sends(structs.replace(fulfill(request_id), run_id=run_id))
        self.playbook.take()

    def asks(self, request_id: str = "r1", url: str = URL) -> Effects:
        """Let the application ask; give what follows the record of it."""
        self.agent.sends(start(request_id, url))
        seen, *effects = self.playbook.take()
        self.assertIsInstance(seen, records.RequestSeen)
        return effects

    def expired(self, route_id: str = "buys#1") -> Send:
        return self.worker.gets(outbound.RouteExpired(route_id))
