"""WebSockets that are opened: held until somebody decides."""

from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import claims_socket, open_socket, predicate, text
from tests.support.playbook import Peer, Playbook, RegisteredTest, to
from trafficmock.core.effects import Effects, Send
from trafficmock.records import (
    Owner,
    SocketClosed,
    SocketFailed,
    SocketOwned,
    SocketPassedThrough,
    SocketSeen,
)
from trafficmock.wire import inbound, outbound

URL = "ws://h.test/s"
OWNER = Owner("buys", "buys#1", "buys", "buys.spec.ts")
SEEN = SocketSeen("s1", "app", URL, ["chat"])
CLAIM = outbound.SocketClaim("s1", URL, ["chat"], "app")


def passed(agent: Peer) -> Effects:
    return [SocketPassedThrough("s1"), agent.gets(outbound.SocketPassthrough("s1"))]


def matched(test: RegisteredTest, route_id: str = "buys#1") -> Effects:
    owner = Owner(test.id, route_id, test.id, f"{test.id}.spec.ts")
    message = outbound.SocketMatched("s1", route_id, test.id, URL, ["chat"], "app")
    return [SocketOwned("s1", owner), test.worker.gets(message)]


class WithWorker(SynchronousTestCase):
    """One agent, one worker with one test."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent, self.worker = self.playbook.agent(), self.playbook.worker()
        self.test = self.worker.test()
        self.before = self.playbook.tables()

    def sends(self, peer: Peer, message: inbound.Message, *expected: object) -> None:
        peer.sends(message)
        self.playbook.expect(*expected)

    def claims(self, *route_ids: str, test_id: str = "buys") -> inbound.SocketClaimResult:
        return claims_socket("s1", test_id, *route_ids)


class OpeningTests(WithWorker):
    """Who gets a WebSocket; here the worker always has the last word."""

    def test_nobody(self) -> None:
        """Without a route for WebSockets it is connected to the real server, and forgotten."""
        self.test.route("**")
        self.test.route("ws://other.test/", kind="websocket")
        before = self.playbook.tables()
        self.sends(self.agent, open_socket(), SEEN, *passed(self.agent))
        self.assertEqual(self.playbook.tables(), before)

    def test_asked_and_matched(self) -> None:
        """A certain match is confirmed by the worker: a wrong one would leave a dead socket."""
        self.test.route("ws://h.test/**", kind="websocket")
        self.sends(self.agent, open_socket(), SEEN, self.worker.gets(CLAIM))
        self.sends(self.worker, self.claims("buys#1"), *matched(self.test))

    def test_asked_and_not_wanted(self) -> None:
        """An answer without a match lets it pass."""
        self.test.route(predicate(), kind="websocket")
        self.sends(self.agent, open_socket(), SEEN, self.worker.gets(CLAIM))
        self.sends(self.worker, self.claims(), *passed(self.agent))

    def test_http_routes_do_not_count(self) -> None:
        """An answer that names an HTTP route names none."""
        self.test.route(predicate(), kind="websocket")
        http = self.test.route(predicate())
        self.sends(self.agent, open_socket(), SEEN, self.worker.gets(CLAIM))
        self.sends(self.worker, self.claims(http), *passed(self.agent))

    def test_ambiguous(self) -> None:
        """Several tests want it: it fails, and each of them is told."""
        other = self.playbook.worker("1").test("sells")
        for test in (self.test, other):
            test.route("ws://h.test/**", kind="websocket")
        ask = Send(to(self.worker, other.worker), CLAIM)
        self.sends(self.agent, open_socket(), SEEN, ask)
        self.sends(self.worker, self.claims("buys#1"))
        other.worker.sends(self.claims("sells#1", test_id="sells"))
        failed, refusal, *complaints = self.playbook.take()
        assert isinstance(failed, SocketFailed)
        message = text("Ambiguous backend mock routing", "2 tests", "WebSocket ws://h.test/s")
        self.assertEqual(
            (failed.owner, failed.code, failed.message), (None, "ambiguous_route", message)
        )
        assert failed.matches is not None
        error = outbound.SocketError("s1", "ambiguous_route", message, failed.matches)
        self.assertEqual(refusal, self.agent.gets(error))
        for test, complaint in zip((self.test, other), complaints, strict=True):
            told = outbound.ProxyError("ambiguous_route", message, test.id, failed.matches)
            self.assertEqual(complaint, test.worker.gets(told))
        self.assertEqual([each.test_id for each in failed.matches], ["buys", "sells"])

    def test_claim_timeout(self) -> None:
        """Nobody answers in time: it fails."""
        self.test.route(predicate(), kind="websocket")
        self.sends(self.agent, open_socket(), SEEN, self.worker.gets(CLAIM))
        self.playbook.wait(5)
        message = text("5000 ms", URL, '"buys"')
        self.playbook.expect(
            SocketFailed("s1", None, "claim_timeout", message, None),
            self.agent.gets(outbound.SocketError("s1", "claim_timeout", message)),
        )

    def test_worker_lost_during_the_round(self) -> None:
        """A lost worker matches nothing; the round need not wait for its time."""
        self.test.route(predicate(), kind="websocket")
        self.sends(self.agent, open_socket(), SEEN, self.worker.gets(CLAIM))
        self.worker.dies()
        self.playbook.expect(*passed(self.agent))

    def test_id_in_use(self) -> None:
        """The first holder keeps its id, held or open; another agent's too."""
        self.test.route(predicate(), kind="websocket")
        other = self.playbook.agent("other")
        refusal = outbound.SocketError("s1", "internal", text("s1", "in use"))
        self.sends(self.agent, open_socket(), SEEN, self.worker.gets(CLAIM))
        self.sends(other, open_socket(), other.gets(refusal))
        self.sends(self.worker, self.claims("buys#1"), *matched(self.test))
        self.sends(self.agent, open_socket(), self.agent.gets(refusal))

    def test_closed_while_held(self) -> None:
        """An owner that is found after the application closed hears of the close at once."""
        self.test.route(predicate(), kind="websocket")
        before = self.playbook.tables()
        self.sends(self.agent, open_socket(), SEEN, self.worker.gets(CLAIM))
        close = inbound.ClosePage("s1", was_clean=True, code=1000)
        self.sends(self.agent, close)
        self.sends(self.agent, close)
        self.playbook.seconds += 1
        closed = SocketClosed("s1", "page", 1000, None, was_clean=True)
        told = [*matched(self.test), closed, self.worker.gets(close)]
        self.sends(self.worker, self.claims("buys#1"), *told)
        self.playbook.wait(4)
        self.playbook.expect()
        self.assertEqual(self.playbook.tables(), before)

    def test_frames_while_held(self) -> None:
        """Before there is an owner, frames go nowhere."""
        self.test.route(predicate(), kind="websocket")
        self.sends(self.agent, open_socket(), SEEN, self.worker.gets(CLAIM))
        self.sends(self.agent, inbound.MessageFromPage("s1", "hi", is_base64=False))
