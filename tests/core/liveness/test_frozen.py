"""Owners whose process is blocked or stopped, at every step of what they own."""

from typing import Any

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    claims,
    claims_socket,
    fetch,
    fetched,
    fulfill,
    open_socket,
    predicate,
    request,
    start,
    text,
)
from tests.support.playbook import SETTINGS, Playbook
from trafficmock.core.effects import Effects, Send
from trafficmock.core.settings import Settings
from trafficmock.records import RequestFailed, SocketFailed
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body

QUIET = evolve(SETTINGS, claim_timeout=5.0, heartbeat=1000.0, idle_timeout=4000.0)
SAID = text("5000 ms", '"buys"', "no sign of life", "--claim-timeout-ms")


class FrozenCase(SynchronousTestCase):
    """One agent, one worker with one test; heartbeats stay out of the picture."""

    def setUp(self) -> None:
        self.set_up(QUIET)

    def set_up(self, settings: Settings) -> None:
        self.playbook = Playbook(self, settings)
        self.agent = self.playbook.agent()
        self.worker = self.playbook.worker()
        self.test = self.worker.test()
        self.before = self.playbook.tables()

    def freeze(self) -> None:
        """Stop the worker: it says nothing any more."""
        self.playbook.take()
        self.playbook.muted.add(self.worker.id)

    def ends_after(self, seconds: float, what: type) -> Any:
        """Check when what the worker owns is given up; give the record."""
        self.playbook.wait(seconds - 0.001)
        self.playbook.expect()
        self.playbook.wait(0.001)
        effects = self.playbook.take()
        records: list[Any] = [effect for effect in effects if isinstance(effect, what)]
        (record,) = records
        self.assertEqual((record.code, record.message), ("claim_timeout", SAID))
        self.assertEqual((record.owner.test_id, record.owner.title), ("buys", "buys"))
        self.sent = [effect for effect in effects if isinstance(effect, Send)]
        return record

    def nothing_left(self) -> None:
        """Check that only the test and its routes are left, and that nothing happens later."""
        self.playbook.wait(30)
        self.playbook.expect()
        self.worker.sends(inbound.RouteUnregister(test_id="buys"))
        self.playbook.take()
        self.assertEqual(self.playbook.tables(), self.before)


class RequestTests(FrozenCase):
    """HTTP requests, whatever the owner said since the match."""

    def gives_up(self, seconds: float = 5) -> None:
        record = self.ends_after(seconds, RequestFailed)
        self.assertEqual(record.request_id, "r1")
        refusal = outbound.DecisionError("r1", "claim_timeout", SAID)
        self.assertIn(self.agent.gets(refusal), self.sent)
        self.nothing_left()

    def match(self) -> None:
        self.test.route("**")
        self.agent.sends(start())

    def claim(self) -> None:
        self.test.route(predicate())
        self.agent.sends(start())
        self.playbook.take()
        self.playbook.wait(1)
        self.worker.sends(claims("r1", "buys", "buys#1"))

    def test_before_the_answer(self) -> None:
        """It was matched without a question, and never says a word."""
        self.match()
        self.freeze()
        self.gives_up()

    def test_after_a_claim(self) -> None:
        """It answered a claim, and then no more."""
        self.claim()
        self.freeze()
        self.gives_up()

    def test_always_asked(self) -> None:
        """It is asked about everything."""
        self.set_up(evolve(QUIET, ownership="always-ask"))
        self.claim()
        self.freeze()
        self.gives_up()

    def test_after_a_fetch(self) -> None:
        """It asked for a fetch, whose answer it does not take."""
        self.match()
        self.playbook.take()
        self.playbook.wait(1)
        self.worker.sends(fetch())
        self.playbook.take()
        self.playbook.wait(1)
        self.agent.sends(fetched())
        self.freeze()
        self.gives_up(4)

    def test_during_a_fetch(self) -> None:
        """It asked for a fetch that is not answered either."""
        self.match()
        self.playbook.take()
        self.playbook.wait(1)
        self.worker.sends(fetch())
        self.freeze()
        record = self.ends_after(5, RequestFailed)
        self.assertEqual(record.request_id, "r1")
        done = [each.message for each in self.sent]
        self.assertEqual(
            [each.ok for each in done if isinstance(each, outbound.FetchDone)], [False]
        )
        self.nothing_left()

    def test_after_a_body(self) -> None:
        """It waited for a body: its time begins when it is handed the request."""
        agent = self.playbook.agent("streams", features=("stream",))
        self.before = self.playbook.tables()
        self.test.route("**")
        agent.sends(inbound.RequestStart("r1", "streams", request(), body_pending=True))
        self.playbook.take()
        self.playbook.wait(15)
        self.playbook.expect()
        agent.sends(inbound.RequestBody("r1", body.from_bytes(b"body")))
        self.freeze()
        self.assertEqual(self.ends_after(5, RequestFailed).request_id, "r1")
        self.nothing_left()

    def test_after_minutes(self) -> None:
        """A slow handler's worker answers pings for minutes, and stops then."""
        self.match()
        self.playbook.take()
        self.playbook.wait(600)
        self.playbook.expect()
        self.freeze()
        # The last ping was answered at the very end of the wait, or up to half the time ago.
        self.playbook.wait(5)
        self.assertEqual(self.playbook.take()[0].request_id, "r1")  # type: ignore[union-attr]
        self.nothing_left()

    def test_slow(self) -> None:
        """A handler whose worker answers pings takes ten minutes."""
        self.claim()
        self.playbook.take()
        self.playbook.wait(600)
        self.playbook.expect()
        self.worker.sends(fulfill())
        self.assertEqual(len(self.playbook.take()), 3)
        self.nothing_left()

    def test_own_time(self) -> None:
        """Each request has its time, also one that is matched to a worker already silent."""
        self.playbook = Playbook(self, QUIET)
        self.agent = self.playbook.agent()
        # Without this feature the second match of the test would be asked about first.
        self.worker = self.playbook.worker(features=("chain",))
        self.test = self.worker.test()
        self.match()
        self.freeze()
        self.playbook.wait(4)
        self.agent.sends(start("r2"))
        self.playbook.take()
        self.assertEqual(self.ends_after(1, RequestFailed).request_id, "r1")
        self.assertEqual(self.ends_after(4, RequestFailed).request_id, "r2")

    def test_takes_what_it_is_sent(self) -> None:
        """A worker that takes large data from us is alive, though it says nothing."""
        self.match()
        self.freeze()
        for _ in range(20):
            self.playbook.coordinator.progressed(self.worker.id, self.playbook.now())
            self.playbook.wait(2)
            self.playbook.expect()
        self.gives_up(3)

    def test_idle_before(self) -> None:
        """A worker that owned nothing need not have spoken before the match."""
        self.playbook.wait(300)
        self.match()
        self.freeze()
        self.gives_up()


class SocketTests(FrozenCase):
    """WebSockets: as long as one is open, its owner answers pings."""

    def open(self) -> None:
        self.test.route(predicate(), kind="websocket")
        self.agent.sends(open_socket())
        self.playbook.take()
        self.playbook.wait(1)
        self.worker.sends(claims_socket("s1", "buys", "buys#1"))

    def gives_up(self, seconds: float, *closes: type) -> None:
        record = self.ends_after(seconds, SocketFailed)
        self.assertEqual(record.socket_id, "s1")
        refusal = outbound.SocketError("s1", "claim_timeout", SAID)
        self.assertIn(self.agent.gets(refusal), self.sent)
        # Should the worker wake up, its handler finds the socket closed.
        late = [type(each.message) for each in self.sent if each.to == (self.worker.id,)]
        self.assertEqual(late, [inbound.ClosePage, *closes])
        self.nothing_left()

    def test_after_the_claim(self) -> None:
        """It answered the claim, and neither opens the socket nor connects it."""
        self.open()
        self.freeze()
        self.gives_up(5)

    def test_after_a_frame(self) -> None:
        """It opened the socket and sent a frame."""
        self.open()
        self.playbook.take()
        self.playbook.wait(1)
        self.worker.sends(inbound.SocketEnsureOpened("s1"))
        self.worker_sends()
        self.freeze()
        self.gives_up(5)

    def worker_sends(self) -> None:
        self.playbook.take()
        self.worker.sends(inbound.SendToPage("s1", "hi", is_base64=False))

    def test_connected(self) -> None:
        """The way to the real server is closed, too."""
        self.open()
        self.playbook.take()
        self.worker.sends(inbound.SocketConnect("s1"))
        self.freeze()
        self.gives_up(5, inbound.CloseServer)
        close = inbound.CloseServer("s1", was_clean=False, code=1011)
        self.assertIn(self.agent.gets(close), self.sent)

    def test_long(self) -> None:
        """A socket stays open as long as its owner answers pings, with or without frames."""
        self.open()
        self.playbook.take()
        self.playbook.wait(3600)
        self.playbook.expect()
        self.agent.sends(inbound.ClosePage("s1", was_clean=True, code=1000))
        self.playbook.take()
        self.nothing_left()

    def test_closed(self) -> None:
        """A socket that the application closed is no reason to fail it."""
        self.open()
        self.playbook.take()
        self.playbook.wait(1)
        self.agent.sends(inbound.ClosePage("s1", was_clean=True, code=1000))
        self.freeze()
        self.playbook.wait(30)
        failed = [each for each in self.playbook.take() if isinstance(each, SocketFailed)]
        self.assertEqual(failed, [])
        self.nothing_left()

    def test_one_ping_for_all(self) -> None:
        """A worker is pinged once, however much it owns."""
        self.open()
        self.playbook.take()
        self.test.route(predicate())
        for number in range(5):
            self.agent.sends(start(f"r{number}"))
            self.playbook.take()
            self.worker.sends(claims(f"r{number}", "buys", "buys#2"))
            self.playbook.take()
        self.playbook.tick_at(self.playbook.seconds + 2.5)
        self.assertEqual(pings(self.playbook.take()), [(self.worker.id,)])


def pings(effects: Effects) -> list[tuple[str, ...]]:
    """List who was pinged by which message."""
    sent = [effect for effect in effects if isinstance(effect, Send)]
    return [each.to for each in sent if isinstance(each.message, inbound.Ping)]
