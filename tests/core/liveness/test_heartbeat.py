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
        self.playbook = Playbook(self, SLOW)

    def beat(self, seconds: float, *expected: object) -> None:
        """At this many seconds after the beginning, and not before, this happens."""
        playbook = self.playbook
        playbook.seconds = 1000 + seconds - 0.001
        playbook.tick_at(playbook.seconds)
        playbook.expect()
        playbook.tick_at(1000 + seconds)
        playbook.expect(*expected)

    def test_pings(self) -> None:
        """Everybody who said hello is pinged together; strangers are not."""
        one, other = self.playbook.agent("one"), self.playbook.worker("0")
        self.playbook.connect("stranger")
        self.playbook.seconds += 9
        self.playbook.disconnect("stranger")
        self.playbook.connect("later")
        self.beat(15, Send(to(one, other), inbound.Ping(EPOCH_MS + 15_000)))

    def test_answers_a_ping(self) -> None:
        """A client's ping is answered with its own time."""
        agent = self.playbook.agent()
        agent.sends(inbound.Ping(12.5))
        self.playbook.expect(agent.gets(inbound.Pong(12.5)))
        agent.sends(inbound.Pong(12.5))
        self.playbook.expect()

    def test_silence(self) -> None:
        """Who said nothing for longer than the idle timeout is cut at the next heartbeat."""
        agent = self.playbook.agent()
        for at in (15, 30, 45, 60):
            self.beat(at, agent.gets(inbound.Ping(EPOCH_MS + at * 1000)))
        self.beat(75, AbortConnection(agent.id, "app said nothing for 75 s (--idle-timeout-ms)"))
        agent.dies()
        self.assertEqual(self.playbook.tables(), {})

    def test_signs_of_life(self) -> None:
        """Any message counts, valid or not, and so does taking what was queued."""
        playbook = self.playbook
        talker, mumbler, reader = playbook.agent("a"), playbook.agent("b"), playbook.agent("c")
        for at in (15, 30, 45, 60, 75, 90, 105, 120):
            playbook.seconds = 1000 + at - 5
            talker.sends(inbound.AgentError("x"))
            mumbler.sends_text("?")
            playbook.take()
            playbook.coordinator.progressed(reader.id, playbook.now())
            playbook.tick_at(1000 + at)
            ping = inbound.Ping(EPOCH_MS + at * 1000)
            playbook.expect(Send(to(talker, mumbler, reader), ping))

    def test_progress_of_strangers(self) -> None:
        """Progress on a connection that is gone, or has not said hello, is no matter."""
        self.playbook.connect("stranger")
        self.playbook.coordinator.progressed("stranger", self.playbook.now())
        self.playbook.coordinator.progressed("gone", self.playbook.now())

    def test_wakes_only_while_somebody_is_there(self) -> None:
        """Without connections no wake-up is asked for."""
        agent = self.playbook.agent()
        agent.sends(start())
        self.playbook.take()
        agent.dies()
        self.playbook.take()
        self.playbook.wait(1000)
        self.playbook.expect()
        self.assertIsNone(self.playbook._wake_at)


class StrangerTests(SynchronousTestCase):
    """A connection must say ``hello`` in time."""

    def test_deadline(self) -> None:
        """A connection that does not say hello in time is refused, whatever it pings."""
        playbook = Playbook(self, SLOW)
        early = playbook.connect("early")
        playbook.seconds += 4
        later = playbook.connect("later")
        early.sends(inbound.Ping(1))
        playbook.expect()
        playbook.wait(5.9)
        playbook.expect()
        playbook.wait(0.1)
        playbook.expect(*hello_error(early, "invalid_hello"))
        playbook.wait(4)
        playbook.expect(*hello_error(later, "invalid_hello"))
        self.assertEqual(playbook.tables(), {})

    def test_many(self) -> None:
        """All whose time is up are refused together."""
        playbook = Playbook(self, SLOW)
        peers = [playbook.connect(f"c{number}") for number in range(3)]
        playbook.wait(10)
        playbook.expect(*(each for peer in peers for each in hello_error(peer, "invalid_hello")))

    def test_no_deadline(self) -> None:
        """A deadline of 0 waits for ever, and does not ping."""
        playbook = Playbook(self, evolve(SLOW, hello_timeout=0.0))
        peer = playbook.connect("c1")
        playbook.wait(10_000)
        playbook.expect()
        peer.dies()
        self.assertEqual(playbook.tables(), {})

    def test_hello_ends_it(self) -> None:
        """Who said hello is not refused later."""
        playbook = Playbook(self, SLOW)
        playbook.agent()
        playbook.wait(100)
        playbook.expect()
        self.assertEqual(len(playbook.coordinator.clients()), 1)
