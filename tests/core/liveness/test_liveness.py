"""A worker's second connection answers pings while its first is not read."""

from attrs import evolve
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import fulfill, predicate, start, text
from tests.support.playbook import EPOCH_MS, SETTINGS, Peer, Playbook, hello_error, to
from trafficmock.core.effects import AbortConnection, Send
from trafficmock.core.settings import Settings
from trafficmock.records import RequestFailed
from trafficmock.server.rest.connections_report import connections_report
from trafficmock.wire import inbound, outbound

QUIET = evolve(SETTINGS, claim_timeout=5.0, heartbeat=1000.0, idle_timeout=4000.0)
BEATING = evolve(SETTINGS, claim_timeout=5.0, heartbeat=15.0, idle_timeout=60.0)


def hello(liveness_of: str, *, role: str = "playwright", token: str | None = None) -> inbound.Hello:
    return inbound.Hello(
        3,
        "0.1.0",
        role,  # type: ignore[arg-type] # one of them
        "playwright-0",
        token=UNSET if token is None else token,
        liveness_of=liveness_of,
    )


class LivenessCase(SynchronousTestCase):
    """One agent, and one worker with one test, which is paused: it answers no ping."""

    def set_up(self, settings: Settings) -> None:
        self.playbook = Playbook(self, settings)
        self.agent = self.playbook.agent()
        self.worker = self.playbook.worker()
        self.test = self.worker.test()
        self.playbook.muted.add(self.worker.id)

    def second(self, connection_id: str = "second") -> Peer:
        """Open the worker's second connection."""
        peer = self.playbook.connect(connection_id)
        peer.sends(hello(self.worker.id))
        welcome = outbound.HelloOk(peer.id, 3, "1.2.3", "playwright-0")
        self.playbook.expect(peer.gets(welcome))
        return peer


class OwnerTests(LivenessCase):
    """What a paused test owns waits as long as the second connection answers pings."""

    def setUp(self) -> None:
        self.set_up(QUIET)

    def own(self) -> None:
        self.test.route("**")
        self.agent.sends(start())
        self.playbook.take()

    def failed(self) -> bool:
        return any(isinstance(each, RequestFailed) for each in self.playbook.take())

    def test_both_are_pinged(self) -> None:
        """A worker that is silent for half its time is pinged on both connections."""
        second = self.second()
        self.own()
        self.playbook.tick_at(1002.5)
        self.playbook.expect(Send(to(self.worker, second), inbound.Ping(EPOCH_MS + 2500)))

    def test_waits(self) -> None:
        """Its request waits for its decision."""
        self.second()
        self.own()
        self.playbook.wait(500)
        self.playbook.expect()
        self.worker.sends(fulfill())
        self.assertEqual(len(self.playbook.take()), 3)

    def test_process_stops(self) -> None:
        """When neither connection answers, the request is given up."""
        second = self.second()
        self.own()
        self.playbook.wait(20)
        self.playbook.muted.add(second.id)
        self.playbook.wait(7.501)
        self.assertTrue(self.failed())

    def test_second_connection_is_lost(self) -> None:
        """The worker is then judged by its first connection alone."""
        second = self.second()
        self.own()
        second.dies()
        self.playbook.tick_at(1002.5)
        self.playbook.expect(self.worker.gets(inbound.Ping(EPOCH_MS + 2500)))
        self.playbook.wait(2.501)
        self.assertTrue(self.failed())

    def test_replaced(self) -> None:
        """A newer second connection takes the place of the one before."""
        first, newer = self.second(), self.second("newer")
        self.own()
        first.dies()
        self.playbook.tick_at(1002.5)
        self.playbook.expect(Send(to(self.worker, newer), inbound.Ping(EPOCH_MS + 2500)))

    def test_predicates_do_not_wait(self) -> None:
        """A request that the paused test is only asked about fails after the claim timeout."""
        self.second()
        self.test.route(predicate())
        self.agent.sends(start())
        self.playbook.take()
        self.playbook.wait(5.001)
        self.assertTrue(self.failed())


class HeartbeatTests(LivenessCase):
    """The second connection keeps the first from being cut, and can do nothing else."""

    def setUp(self) -> None:
        self.set_up(BEATING)
        self.agent.dies()

    def test_is_not_cut(self) -> None:
        """A worker that is silent stays while its second connection answers."""
        self.second()
        self.playbook.wait(300)
        self.playbook.expect()

    def test_both_are_cut(self) -> None:
        """A process that is stopped is cut as ever, on both connections."""
        second = self.second()
        self.playbook.muted.add(second.id)
        self.playbook.wait(75)
        said = text("said nothing for 75 s")
        self.playbook.expect(
            AbortConnection(self.worker.id, said), AbortConnection(second.id, said)
        )

    def test_is_no_client(self) -> None:
        """It is neither an agent nor a worker, and what these may say it may not."""
        second = self.second()
        rows = connections_report(self.playbook.coordinator)
        self.assertEqual((len(rows["nodeAgents"]), len(rows["runnerWorkers"])), (0, 1))
        for message in (
            inbound.TestRegister("t", "t", "f", "0"),
            inbound.RouteRegister("q", "buys", predicate()),
            start("r9"),
            fulfill(),
        ):
            second.sends(message)
            self.playbook.expect()

    def test_invalid_message(self) -> None:
        """It is told what was wrong, as everybody is."""
        second = self.second()
        second.sends_text("?")
        (send,) = self.playbook.take()
        self.assertIsInstance(send.message, outbound.ProxyError)  # type: ignore[union-attr] # a send

    def test_leaves_nothing(self) -> None:
        """Whoever goes first, nothing is left of both."""
        second = self.second()
        self.worker.dies()
        self.playbook.wait(100)
        self.playbook.expect()
        second.dies()
        self.assertEqual(self.playbook.tables(), {})


class RefusalTests(SynchronousTestCase):
    """Only a worker has a second connection."""

    def test_nobody(self) -> None:
        """Agents, and connections that are not there, have none."""
        playbook = Playbook(self)
        agent = playbook.agent()
        for number, liveness_of in enumerate((agent.id, "nobody", "")):
            peer = playbook.connect(f"c{number}")
            peer.sends(hello(liveness_of))
            playbook.expect(*hello_error(peer, "invalid_hello"))

    def test_token(self) -> None:
        """It needs the token, like any other, and is told of that before anything else."""
        playbook = Playbook(self, evolve(SETTINGS, token="s3cret"))
        worker = playbook.worker()
        for token, code in (("no", "unauthorized"), (None, "unauthorized")):
            peer = playbook.connect(f"c{token}")
            peer.sends(hello(worker.id, token=token))
            playbook.expect(*hello_error(peer, code))  # type: ignore[arg-type] # a code
        peer = playbook.connect("c")
        peer.sends(hello(worker.id, token="s3cret"))
        self.assertEqual(len(playbook.take()), 1)

    def test_agents_have_no_such_key(self) -> None:
        """In the hello of an agent the key is one that is not known."""
        playbook = Playbook(self)
        peer = playbook.connect("c")
        peer.sends(hello("nobody", role="node"))
        self.assertIsInstance(playbook.take()[0].message, outbound.HelloOk)  # type: ignore[union-attr]
