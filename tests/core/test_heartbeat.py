"""Heartbeats, silence, and connections that never introduce themselves."""

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import start
from tests.support.playbook import EPOCH_MS, SETTINGS, Playbook, hello_error, to
from trafficmock.core.effects import AbortConnection, Send
from trafficmock.wire import inbound

SLOW = evolve(SETTINGS, heartbeat=15.0, idle_timeout=60.0, hello_timeout=10.0)


class HeartbeatTests(SynchronousTestCase):
    """Clients are pinged at the heartbeat, and cut when they say nothing for too long."""

    def setUp(self) -> None:
        self.play = Playbook(self, SLOW)

    def beat(self, seconds: float, *expected: object) -> None:
        """At this many seconds after the beginning, and not before, this happens."""
        play = self.play
        play.seconds = 1000 + seconds - 0.001
        play.tick_at(play.seconds)
        play.expect()
        play.tick_at(1000 + seconds)
        play.expect(*expected)

    def test_pings(self) -> None:
        """Everybody who said hello is pinged together; strangers are not."""
        one, other = self.play.agent("one"), self.play.worker("0")
        self.play.connect("stranger")
        self.play.seconds += 9
        self.play.disconnect("stranger")
        self.play.connect("later")
        self.beat(15, Send(to(one, other), inbound.Ping(EPOCH_MS + 15_000)))

    def test_answers_a_ping(self) -> None:
        """A client's ping is answered with its own time."""
        agent = self.play.agent()
        agent.says(inbound.Ping(12.5))
        self.play.expect(agent.gets(inbound.Pong(12.5)))
        agent.says(inbound.Pong(12.5))
        self.play.expect()

    def test_silence(self) -> None:
        """Who said nothing for longer than the idle timeout is cut at the next heartbeat."""
        agent = self.play.agent()
        for at in (15, 30, 45, 60):
            self.beat(at, agent.gets(inbound.Ping(EPOCH_MS + at * 1000)))
        self.beat(75, AbortConnection(agent.id, "app said nothing for 75 s (--idle-timeout-ms)"))
        agent.dies()
        self.assertEqual(self.play.tables(), {})

    def test_signs_of_life(self) -> None:
        """Any message counts, valid or not, and so does taking what was queued."""
        play = self.play
        talker, mumbler, reader = play.agent("a"), play.agent("b"), play.agent("c")
        for at in (15, 30, 45, 60, 75, 90, 105, 120):
            play.seconds = 1000 + at - 5
            talker.says(inbound.AgentError("x"))
            mumbler.says_text("?")
            play.take()
            play.coordinator.progressed(reader.id, play.now())
            play.tick_at(1000 + at)
            ping = inbound.Ping(EPOCH_MS + at * 1000)
            play.expect(Send(to(talker, mumbler, reader), ping))

    def test_progress_of_strangers(self) -> None:
        """Progress on a connection that is gone, or has not said hello, is no matter."""
        self.play.connect("stranger")
        self.play.coordinator.progressed("stranger", self.play.now())
        self.play.coordinator.progressed("gone", self.play.now())

    def test_wakes_only_while_somebody_is_there(self) -> None:
        """Without connections no wake-up is asked for."""
        agent = self.play.agent()
        agent.says(start())
        self.play.take()
        agent.dies()
        self.play.take()
        self.play.wait(1000)
        self.play.expect()
        self.assertIsNone(self.play._wake_at)


class StrangerTests(SynchronousTestCase):
    """A connection must say ``hello`` in time."""

    def test_deadline(self) -> None:
        """A connection that does not say hello in time is refused, whatever it pings."""
        play = Playbook(self, SLOW)
        early = play.connect("early")
        play.seconds += 4
        later = play.connect("later")
        early.says(inbound.Ping(1))
        play.expect()
        play.wait(5.9)
        play.expect()
        play.wait(0.1)
        play.expect(*hello_error(early, "invalid_hello"))
        play.wait(4)
        play.expect(*hello_error(later, "invalid_hello"))
        self.assertEqual(play.tables(), {})

    def test_many(self) -> None:
        """All whose time is up are refused together."""
        play = Playbook(self, SLOW)
        peers = [play.connect(f"c{number}") for number in range(3)]
        play.wait(10)
        play.expect(*(each for peer in peers for each in hello_error(peer, "invalid_hello")))

    def test_no_deadline(self) -> None:
        """A deadline of 0 waits for ever, and does not ping."""
        play = Playbook(self, evolve(SLOW, hello_timeout=0.0))
        peer = play.connect("c1")
        play.wait(10_000)
        play.expect()
        peer.dies()
        self.assertEqual(play.tables(), {})

    def test_hello_ends_it(self) -> None:
        """Who said hello is not refused later."""
        play = Playbook(self, SLOW)
        play.agent()
        play.wait(100)
        play.expect()
        self.assertEqual(len(play.coordinator.clients()), 1)
