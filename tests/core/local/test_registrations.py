"""When a route counts: its agents have acknowledged it, or their leases are over."""

from typing import Any

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.core.local.case import LOCAL, LocalCase, X, sent
from tests.support.builders import glob, start
from tests.support.playbook import SETTINGS, Playbook
from trafficmock.core.effects import Send
from trafficmock.core.local.leases import (
    LEASE_SECONDS,
    LocalAgent,
    WaitingAnswer,
    WaitingAnswers,
)
from trafficmock.wire import inbound, local_reports, outbound
from trafficmock.wire.agent_filter import FilterAdd, Sync


class RegistrationTests(LocalCase):
    """A route is acknowledged when no agent can pass it by any more."""

    def test_no_lease(self) -> None:
        """An agent that has no lease is not waited for."""
        effects = self.routes("**/x")
        self.assertEqual(sent(effects, FilterAdd), [FilterAdd(1, [X])])
        self.assert_answered(effects)

    def test_unix_sockets(self) -> None:
        """For a route that names a UNIX socket an agent without a lease is waited for, too."""
        self.assert_answered(self.routes("http+unix://%2Fd.sock/x"), answered=False)
        self.assert_answered(self.acknowledges())
        self.assert_answered(self.routes("http+unix://%2Fd.sock/y", "other"), answered=False)
        self.playbook.wait(LEASE_SECONDS)
        self.assert_answered(self.playbook.take())

    def test_worker_first(self) -> None:
        """The worker, which waits, is answered before agents that need not be waited for."""
        effects = self.routes("**/x")
        answer = self.worker.gets(outbound.RouteRegistered("q"))
        self.assertEqual(effects, [answer, self.agent.gets(FilterAdd(1, [X]))])
        other = self.playbook.worker("1")
        other.sends(inbound.TestRegister("o", "o", "f.py", "1"))
        registered = other.gets(outbound.TestRegistered("o"))
        self.playbook.expect(registered, self.agent.gets(Sync(2, "now")))
        other.sends(inbound.TestUnregister("o"))
        unregistered = other.gets(outbound.TestUnregistered("o"))
        self.playbook.expect(unregistered, self.agent.gets(Sync(3, "batch")))

    def test_waits_for_the_acknowledgement(self) -> None:
        """One with a lease is: until it says that it has the entry."""
        self.asks()
        self.assert_answered(self.routes("**/x"), answered=False)
        self.assert_answered(self.acknowledges())
        self.assertEqual(self.playbook.tables().get(".local.answers.waiting"), None)

    def test_old_acknowledgement(self) -> None:
        """An acknowledgement of something older does not count."""
        self.asks()
        self.assert_answered(self.routes("**/x"), answered=False)
        self.agent.sends(local_reports.FilterAck(0))
        self.assert_answered(self.playbook.take(), answered=False)

    def test_lease_over(self) -> None:
        """It is waited for no longer than its lease lasts, which later answers do not prolong."""
        self.asks()
        self.assert_answered(self.routes("**/x"), answered=False)
        self.playbook.wait(0.6)
        self.asks()
        self.playbook.wait(0.3)
        self.assert_answered(self.playbook.take(), answered=False)
        self.playbook.wait(0.2)
        self.assert_answered(self.playbook.take())

    def test_several_answers(self) -> None:
        """Each waits for the end of the lease that there was when it was asked for."""
        self.asks()
        self.assert_answered(self.routes("**/x"), answered=False)
        self.playbook.wait(0.5)
        self.playbook.take()
        self.asks()
        self.assert_answered(self.routes("**/y", "other"), answered=False)
        for _ in range(2):
            self.playbook.wait(0.5)
            self.assert_answered(self.playbook.take())

    def test_several_agents(self) -> None:
        """All of them are waited for."""
        other = self.playbook.agent("other", features=("local",))
        self.asks()
        self.asks(other)
        self.assert_answered(self.routes("**/x"), answered=False)
        self.assert_answered(self.acknowledges(), answered=False)
        self.assert_answered(self.acknowledges(other))

    def test_lost_connection(self) -> None:
        """An agent whose connection is lost may not know it: its lease is waited for."""
        self.acknowledges()
        self.asks()
        self.agent.dies()
        self.playbook.take()
        self.assert_answered(self.routes("**/x"), answered=False)
        self.playbook.wait(0.9)
        self.assert_answered(self.playbook.take(), answered=False)
        self.playbook.wait(0.2)
        self.assert_answered(self.playbook.take())

    def test_predecessor(self) -> None:
        """Agents of a process that listened here before may not know that it ended."""
        self.playbook.await_older_leases()
        self.agent.dies()
        self.playbook.take()
        self.assert_answered(self.routes("**/x"), answered=False)
        self.playbook.wait(0.9)
        self.assert_answered(self.playbook.take(), answered=False)
        self.playbook.wait(0.2)
        self.assert_answered(self.playbook.take())
        self.assert_answered(self.routes("**/y", "q2"))

    def test_lost_while_waited_for(self) -> None:
        """The same when it is lost before it could acknowledge."""
        self.asks()
        self.assert_answered(self.routes("**/x"), answered=False)
        self.agent.dies()
        self.assert_answered(self.playbook.take(), answered=False)
        self.playbook.wait(1.1)
        self.assert_answered(self.playbook.take())

    def test_worker_gone_meanwhile(self) -> None:
        """A worker that is gone before the answer is due gets none; another's comes."""
        self.asks()
        other = self.playbook.worker("1", features=("context",))
        other.sends(inbound.TestRegister("o", "o", "f.py", "1"))
        self.playbook.take()
        self.routes("**/x")
        other.sends(inbound.RouteRegister("p", "o", glob("**/x")))
        self.worker.dies()
        self.playbook.take()
        answers = [e for e in self.acknowledges() if isinstance(e, Send)]
        self.assertEqual({each.to for each in answers}, {(other.id,)})
        self.assertIn(outbound.RouteRegistered("p"), [each.message for each in answers])

    def test_clean_close(self) -> None:
        """An agent that says goodbye decides nothing any more."""
        self.asks()
        self.assert_answered(self.routes("**/x"), answered=False)
        self.agent.closes()
        self.assert_answered(self.playbook.take())
        self.assert_answered(self.routes("**/y/*", "q2"))

    def test_known_url(self) -> None:
        """What agents have from a route before costs neither a message nor a wait."""
        self.routes("**/x")
        self.acknowledges()
        self.worker.sends(inbound.RouteUnregister("q"))
        self.playbook.take()
        self.asks()
        effects = self.routes("**/x", "q2")
        self.assertEqual(effects, [self.worker.gets(outbound.RouteRegistered("q2"))])

    def test_known_to_some(self) -> None:
        """An agent that came later has it with its first message, which it must acknowledge."""
        self.routes("**/x")
        self.acknowledges()
        other = self.playbook.agent("other", features=("local",))
        self.asks(other)
        self.assert_answered(self.routes("**/x", "q2"), answered=False)
        self.assert_answered(self.acknowledges(other))

    def test_never_acknowledged(self) -> None:
        """An agent that asks but acknowledges nothing delays a URL that it was told of once."""
        self.asks()
        self.assert_answered(self.routes("**/x"), answered=False)
        for _ in range(3):
            self.playbook.wait(0.4)
            self.playbook.take()
            self.asks()
        self.assert_answered(self.routes("**/x", "q2"))

    def test_routes_before_their_test(self) -> None:
        """Those that wait for their test are entered with it, and hold its acknowledgement."""
        self.asks()
        self.worker.sends(inbound.RouteRegister("q", "u", glob("**/x")))
        self.assert_answered(self.playbook.take())
        self.worker.sends(inbound.TestRegister("u", "u", "f.py", "0"))
        effects = self.playbook.take()
        self.assertEqual(sent(effects, FilterAdd), [FilterAdd(1, [X])])
        self.assertEqual(sent(effects, outbound.TestRegistered), [])
        self.assertEqual(len(sent(self.acknowledges(), outbound.TestRegistered)), 1)

    def test_websocket_routes(self) -> None:
        """WebSockets are always asked about, so that their routes are in no filter."""
        self.asks()
        self.worker.sends(inbound.RouteRegister("q", "t", glob("**/x"), "websocket"))
        self.playbook.expect(self.worker.gets(outbound.RouteRegistered("q")))

    def test_agents_without_the_feature(self) -> None:
        """They ask about everything, and are sent nothing new."""
        playbook = Playbook(self, LOCAL)
        agent, test = playbook.agent(), playbook.worker().test()
        agent.sends(start())
        playbook.take()
        test.route("**/x")
        self.assertTrue(playbook.coordinator.local.is_idle)

    def test_forged_acknowledgement(self) -> None:
        """An acknowledgement of what was never sent changes nothing."""
        self.asks()
        self.assert_answered(self.routes("**/x"), answered=False)
        self.agent.sends(local_reports.FilterAck(2**53 - 1))
        self.assert_answered(self.playbook.take(), answered=False)
        self.assertIn("acknowledges what it was not sent", self.playbook.notes[-1])

    def test_acknowledgement_without_the_feature(self) -> None:
        """An agent that asks about everything has nothing to acknowledge."""
        self.routes("**/x")
        other = self.playbook.agent("other")
        self.acknowledges(other)
        self.assertIn("acknowledges what it was not sent", self.playbook.notes[-1])

    def test_agent_of_a_service_without_it(self) -> None:
        """The feature is refused where it is off, and where all tests are always asked."""
        for settings in (evolve(SETTINGS, local=False), evolve(LOCAL, ownership="always-ask")):
            coordinator = Playbook(self, settings).coordinator
            now = self.playbook.now()
            coordinator.connect("a", now)
            hello = inbound.Hello(3, "0.1.0", "node", "app", features=["local"])
            (welcome,) = sent(coordinator.handle("a", hello, now), outbound.HelloOk)
            assert isinstance(welcome, outbound.HelloOk)
            self.assertEqual(welcome.features, [])


class CountingDict(dict[str, float]):
    """Counts how often it was looked at."""

    looks = 0

    def pop(self, *args: Any) -> Any:
        self.looks += 1
        return super().pop(*args)


class HoldTests(SynchronousTestCase):
    """Answers that wait, by themselves."""

    def test_many(self) -> None:
        """An acknowledgement looks at what waits for it, not at everything that waits."""
        answers, agent, busy = WaitingAnswers(), LocalAgent("a"), LocalAgent("b")
        waits = [CountingDict({"a": 9.0, "b": 9.0}) for _ in range(100)]
        for n, until in enumerate(waits):
            answers.add(WaitingAnswer("w", n, until, lambda _: None))
        for n in range(100):
            self.assertEqual(answers.acknowledged(agent, n), [])
        self.assertEqual(len(answers.acknowledged(busy, 99)), 100)
        self.assertEqual(sum(each.looks for each in waits), 200)
        self.assertEqual(answers.waiting, [])

    def test_older_message(self) -> None:
        """What waits for an older message than others is found, though it came after them."""
        answers, agent = WaitingAnswers(), LocalAgent("a")
        late = WaitingAnswer("w", 1, {"a": 9.0}, lambda _: None)
        answers.add(WaitingAnswer("w", 2, {"a": 9.0}, lambda _: None))
        answers.add(late)
        self.assertEqual(answers.acknowledged(agent, 1), [late])
        self.assertEqual(len(answers.acknowledged(agent, 2)), 1)
