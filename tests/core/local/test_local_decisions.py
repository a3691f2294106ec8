"""What agents that decide without asking are given, and what they report."""

from attrs import evolve

from tests.core.local.case import LOCAL, LocalCase, X, sent
from tests.support.builders import glob, predicate, start
from tests.support.playbook import Playbook, WorkerPeer
from trafficmock import records
from trafficmock.core.effects import AnswerQuery, Dated, Effects, Send
from trafficmock.core.local.filter_entries import (
    ALL,
    ALL_KEPT_SECONDS,
    KEPT_SECONDS,
    MOST_KEPT,
    FilterEntries,
)
from trafficmock.core.local.leases import LEASE_SECONDS
from trafficmock.core.local.local_decisions import MOST_IN_MESSAGE
from trafficmock.wire import inbound, local_reports, outbound
from trafficmock.wire.agent_filter import FilterAdd, FilterDrop, FilterEntry, FilterSet, Sync
from trafficmock.wire.limits import MAX_MESSAGE_BYTES

Y = FilterEntry(texts=("", "/y/", ""))


class EntryTests(LocalCase):
    """What is in the filter."""

    def entries(self) -> list[FilterEntry]:
        return list(self.playbook.coordinator.local.entries.sent)

    def test_anything(self) -> None:
        """A route without text that its URLs must have means that everything is asked about."""
        self.routes(predicate())
        self.assertEqual(self.entries(), [ALL])

    def test_unix_sockets(self) -> None:
        """Only what can match a URL of a UNIX socket is told of it."""
        self.routes("{http,http+unix}://*/x", "mixed")
        self.routes("http+unix://%2Fd.sock/*", "named")
        texts = [each.texts for each in self.entries()]
        self.assertEqual(texts, [("http://", "/x"), ("http+unix://%2Fd.sock/", "")])

    def test_new_agent(self) -> None:
        """A new agent gets all there is at once."""
        self.routes("**/x")
        agent = self.playbook.agent("other", features=("local",))
        self.assertIn(X, self.entries())
        self.assertTrue(agent)

    def test_first_agent(self) -> None:
        """The first one gets what was registered before it came."""
        playbook = Playbook(self, LOCAL)
        test = playbook.worker(features=("subscribe",))
        test.sends(inbound.TestRegister("t", "t", "f.py", "0"))
        playbook.take()
        test.sends(inbound.RouteRegister("q", "t", glob("**/x")))
        playbook.take()
        peer = playbook.connect("agent a")
        peer.sends(inbound.Hello(3, "0.1.0", "node", "a", features=["local"]))
        welcome = FilterSet(0, [X], "batch", MAX_MESSAGE_BYTES)
        self.assertEqual(sent(playbook.take(), FilterSet), [welcome])

    def test_longest_message(self) -> None:
        """An agent is told how long its batches may be."""
        for limit, told in ((5000, 5000), (0, MAX_MESSAGE_BYTES)):
            playbook = Playbook(self, evolve(LOCAL, frame_bytes=limit))
            peer = playbook.connect("agent a")
            peer.sends(inbound.Hello(3, "0.1.0", "node", "a", features=["local"]))
            self.assertEqual(sent(playbook.take(), FilterSet), [FilterSet(0, [], "batch", told)])

    def test_many_at_once(self) -> None:
        """No message has so many entries that it is too long; the last one is waited for."""
        self.asks()
        for n in range(MOST_IN_MESSAGE + 1):
            self.worker.sends(inbound.RouteRegister(f"q{n}", "u", glob(f"**/{n}")))
            self.playbook.take()
        self.worker.sends(inbound.TestRegister("u", "u", "f.py", "0"))
        added = sent(self.playbook.take(), FilterAdd)
        counts = [len(each.entries) for each in added if isinstance(each, FilterAdd)]
        self.assertEqual(counts, [MOST_IN_MESSAGE, 1])
        self.agent.sends(local_reports.FilterAck(1))
        self.assertEqual(sent(self.playbook.take(), outbound.TestRegistered), [])
        self.assertEqual(len(sent(self.acknowledges(), outbound.TestRegistered)), 1)

    def test_dropped_when_long_not_needed(self) -> None:
        """An entry goes when no route has needed it for a while, not while one does."""
        self.routes("**/x")
        self.routes("**/y/*", "q2")
        self.worker.sends(inbound.RouteUnregister("q"))
        self.playbook.take()
        self.playbook.wait(KEPT_SECONDS + 100)
        self.assertEqual(sent(self.playbook.take(), FilterDrop), [FilterDrop([X])])
        self.assertEqual(self.entries(), [Y])

    def test_dropped_then_needed(self) -> None:
        """What was dropped is sent, and acknowledged, anew."""
        self.routes("**/x")
        self.acknowledges()
        self.worker.sends(inbound.RouteUnregister("q"))
        self.playbook.take()
        self.playbook.wait(KEPT_SECONDS + 100)
        self.playbook.take()
        self.asks()
        self.assert_answered(self.routes("**/x"), answered=False)

    def test_everything_goes_soon(self) -> None:
        """The entry under which nothing is decided locally goes within seconds."""
        self.routes(predicate())
        self.worker.sends(inbound.RouteUnregister("q"))
        self.playbook.take()
        self.playbook.wait(2 * ALL_KEPT_SECONDS + 31)
        self.assertEqual(sent(self.playbook.take(), FilterDrop), [FilterDrop([ALL])])

    def test_too_many(self) -> None:
        """Beyond a number the oldest go that nothing needs, and those that are needed stay."""
        entries = FilterEntries()
        many = [FilterEntry(texts=(f"http://h.test/{n}",)) for n in range(MOST_KEPT + 1)]
        entries.add(many, 1, 0.0)
        self.assertTrue(entries.is_sweep_due(0.0))
        gone = entries.sweep({many[0], *many[-10:]}, 1.0)
        self.assertEqual(gone, many[1 : 1 + len(gone)])
        self.assertLess(len(entries.sent), MOST_KEPT)
        self.assertIn(many[0], entries.sent)

    def test_many_that_are_needed(self) -> None:
        """Where all are needed, not each further route has them looked through."""
        entries = FilterEntries()
        many = [FilterEntry(texts=(f"http://h.test/{n}",)) for n in range(MOST_KEPT + 1)]
        entries.add(many, 1, 0.0)
        self.assertEqual(entries.sweep(set(many), 1.0), [])
        entries.add([X], 2, 1.0)
        self.assertFalse(entries.is_sweep_due(1.0))

    def test_limit(self) -> None:
        """The route that exceeds the number has the oldest entries dropped at once."""
        local = self.playbook.coordinator.local
        many = [FilterEntry(texts=(f"http://h.test/{n}",)) for n in range(MOST_KEPT)]
        self.routes("**/x")
        local.entries.add(many, local.n, self.playbook.seconds)
        (drop,) = sent(self.routes("**/y", "other"), FilterDrop)
        assert isinstance(drop, FilterDrop)
        self.assertEqual(drop.entries[0], many[0])
        self.assertIn(X, self.entries())

    def test_leases_end(self) -> None:
        """Lost agents are forgotten with their leases, one after the other."""
        other = self.playbook.agent("other", features=("local",))
        self.asks()
        self.agent.dies()
        self.playbook.take()
        self.playbook.wait(0.5)
        self.playbook.take()
        self.asks(other)
        other.dies()
        self.playbook.take()
        local = self.playbook.coordinator.local
        for left in (1, 0):
            self.playbook.wait(0.5)
            self.playbook.take()
            self.assertEqual(len(local.lost), left)
        self.assertTrue(local.is_idle)

    def test_nobody_left(self) -> None:
        """Without agents nothing is kept."""
        self.routes("**/x")
        self.agent.closes()
        self.playbook.take()
        self.assertEqual(self.entries(), [])


class StrictTests(LocalCase):
    """What strict mode judges is asked about."""

    def entries(self) -> list[FilterEntry]:
        return list(self.playbook.coordinator.local.entries.sent)

    def test_strict_with_context(self) -> None:
        """A strict test is asked about everything, as it may come to be the only one."""
        self.asks()
        strict = inbound.Strict()
        self.worker.sends(
            inbound.TestRegister("u", "u", "f.py", "0", context="a" * 32, strict=strict)
        )
        self.assertEqual(sent(self.playbook.take(), outbound.TestRegistered), [])
        self.assertEqual(self.entries(), [ALL])
        self.assertEqual(len(sent(self.acknowledges(), outbound.TestRegistered)), 1)

    def test_strict_left_alone(self) -> None:
        """When the other test ends, it judges what has no context: agents ask about it already."""
        strict = inbound.Strict()
        self.worker.sends(
            inbound.TestRegister("u", "u", "f.py", "0", context="a" * 32, strict=strict)
        )
        self.playbook.take()
        self.acknowledges()
        self.playbook.wait(ALL_KEPT_SECONDS + KEPT_SECONDS)
        self.assertEqual(sent(self.playbook.take(), FilterDrop), [])
        self.asks()
        self.worker.sends(inbound.TestUnregister("t"))
        self.assertEqual(sent(self.playbook.take(), FilterAdd), [])
        self.assertEqual(self.entries(), [ALL])
        self.agent.sends(start("r9", "http://h.test/other"))
        (error,) = sent(self.playbook.take(), outbound.DecisionError)
        assert isinstance(error, outbound.DecisionError)
        self.assertIn("is not mocked, and strict mode allows nothing", error.message)

    def test_strict_without_context(self) -> None:
        """A strict test without one may own anything."""
        self.asks()
        self.worker.sends(inbound.TestStrict("t", []))
        self.assertEqual(sent(self.playbook.take(), outbound.TestStricted), [])
        self.assertEqual(self.entries(), [ALL])
        self.assertEqual(len(sent(self.acknowledges(), outbound.TestStricted)), 1)

    def test_strict_run(self) -> None:
        """A strict run judges all that nobody owns."""
        self.asks()
        self.worker.sends(inbound.RunStrict("q", []))
        self.assertEqual(sent(self.playbook.take(), outbound.RunStricted), [])
        self.assertEqual(self.entries(), [ALL])
        self.assertEqual(len(sent(self.acknowledges(), outbound.RunStricted)), 1)


class ReportTests(LocalCase):
    """Agents report so that nobody hears of what was before."""

    def observers(self, request_id: str, n: int) -> tuple[str, ...]:
        request = start().request
        self.agent.sends(local_reports.RequestPassed(request_id, "app", request, n))
        effects = self.playbook.take()
        return tuple(
            one
            for each in effects
            if isinstance(each, Send) and isinstance(each.message, outbound.RequestObserved)
            for one in each.to
        )

    def test_subscription(self) -> None:
        """A subscription is acknowledged when what was decided before it has been reported."""
        self.asks()
        self.worker.sends(inbound.TestSubscribe("t"))
        effects = self.playbook.take()
        self.assertEqual(sent(effects, Sync), [Sync(1, "now")])
        self.assertEqual(sent(effects, outbound.TestSubscribed), [])
        self.assertEqual(self.observers("p1", 0), ())
        self.agent.sends(local_reports.Synced(1))
        self.assertEqual(len(sent(self.playbook.take(), outbound.TestSubscribed)), 1)
        self.assertEqual(self.observers("p2", 1), (self.worker.id,))

    def test_older_subscription(self) -> None:
        """Who observed before the first agent came is told of all, so agents need not say more."""
        self.playbook = Playbook(self, LOCAL)
        self.worker = self.playbook.worker(features=("context", "subscribe"))
        self.worker.sends(inbound.TestRegister("t", "t", "f.py", "0"))
        self.playbook.take()
        self.worker.sends(inbound.TestSubscribe("t"))
        self.playbook.take()
        self.agent = self.playbook.agent(features=("local",))
        self.agent.sends(start())
        self.playbook.take()
        self.worker.sends(inbound.TestRegister("u", "u", "f.py", "0"))
        self.assertEqual(sent(self.playbook.take(), Sync), [])
        self.assertEqual(self.observers("p1", 0), (self.worker.id,))

    def test_end_of_a_subscription(self) -> None:
        """When nobody observes any more, agents report in batches."""
        self.worker.sends(inbound.TestSubscribe("t"))
        self.playbook.take()
        self.worker.sends(inbound.TestUnregister("t"))
        self.assertEqual(sent(self.playbook.take(), Sync), [Sync(2, "batch")])

    def test_lost_observer(self) -> None:
        """The same when its worker is lost."""
        self.worker.sends(inbound.TestSubscribe("t"))
        self.playbook.take()
        self.worker.dies()
        self.assertEqual(sent(self.playbook.take(), Sync), [Sync(2, "batch")])
        self.assertEqual(self.playbook.coordinator.local.observed_since, {})

    def test_worker_of_npm(self) -> None:
        """A worker that observes without asking does so from its first test on."""
        self.asks()
        npm = self.playbook.worker("1")
        assert isinstance(npm, WorkerPeer)
        npm.sends(inbound.TestRegister("n", "n", "f.ts", "1"))
        effects = self.playbook.take()
        self.assertEqual(sent(effects, Sync), [Sync(1, "now")])
        self.assertEqual(sent(effects, outbound.TestRegistered), [])
        self.agent.sends(local_reports.Synced(1))
        self.assertEqual(len(sent(self.playbook.take(), outbound.TestRegistered)), 1)

    def carried(self, ago: int) -> records.CarriedContext | None:
        """Report a request with a context, so many milliseconds ago; give whose it is."""
        passed = local_reports.RequestPassed(f"p{ago}", "app", start().request, 0, context="a" * 32)
        self.agent.sends(local_reports.Batch([passed], [ago]))
        (seen,) = (
            each.record
            for each in self.playbook.take()
            if isinstance(each, Dated) and isinstance(each.record, records.RequestSeen)
        )
        return seen.carried

    def test_reported_after_its_test(self) -> None:
        """Late is what passed after its test had ended, not what was reported after that."""
        self.agent = self.playbook.agent("other", features=("context", "local"))
        self.worker.sends(inbound.TestRegister("u", "u", "f.py", "0", context="a" * 32))
        self.playbook.take()
        self.worker.sends(inbound.TestUnregister("u"))
        self.playbook.take()
        self.playbook.wait(0.01)
        self.assertEqual(self.carried(15), records.CarriedContext("u", "u", "f.py", late=False))
        self.assertEqual(self.carried(5), records.CarriedContext("u", "u", "f.py", late=True))

    def test_history(self) -> None:
        """The history is asked when agents have reported, or had a second more than a lease."""
        self.asks()
        self.worker.sends(inbound.HistoryQuery("h"))
        effects = self.playbook.take()
        self.assertEqual([type(each) for each in effects], [Send])
        self.playbook.wait(1.5)
        self.assertEqual(self.playbook.take(), [])
        self.playbook.wait(0.6)
        self.assertEqual(len(self.playbook.take()), 1)

    def test_history_while_an_agent_is_lost(self) -> None:
        """One that is lost meanwhile is waited for as long, though its lease ends before."""
        self.asks()
        self.worker.sends(inbound.HistoryQuery("h"))
        self.playbook.take()
        self.agent.dies()
        self.playbook.take()
        self.playbook.wait(2.1)
        self.assertEqual([type(each) for each in self.playbook.take()], [AnswerQuery])

    def test_history_after_a_lost_agent(self) -> None:
        """An agent that is gone reports nothing any more, so nobody waits for it."""
        self.asks()
        self.agent.dies()
        self.playbook.take()
        self.worker.sends(inbound.HistoryQuery("h"))
        self.assertIn(AnswerQuery, [type(each) for each in self.playbook.take()])

    def test_history_after_a_restart(self) -> None:
        """Agents that come at once to a proxy with a predecessor report as to any other."""
        playbook = Playbook(self, LOCAL)
        playbook.await_older_leases()
        playbook.agent(features=("local",))
        self.assertEqual(playbook.coordinator.local.reports, "batch")

    def test_nothing_is_kept(self) -> None:
        """Where the history keeps no such requests and nobody observes, nothing is reported."""
        playbook = Playbook(self, evolve(LOCAL, records_passed=False))
        agent, worker = playbook.agent(features=("local",)), playbook.worker()
        self.assertEqual(playbook.coordinator.local.reports, "none")
        agent.sends(start())
        playbook.take()
        worker.sends(inbound.HistoryQuery("h"))
        self.assertEqual([type(each) for each in playbook.take()], [AnswerQuery])


class EndTests(LocalCase):
    """The end of a test that has requests in the hands of its handlers."""

    def begin(self) -> None:
        """Let the application send a request to a route of the test, and end the test."""
        self.worker = self.playbook.worker("1", features=("chain", "context", "subscribe"))
        self.worker.sends(inbound.TestRegister("u", "u", "f.py", "1"))
        self.playbook.take()
        self.worker.sends(inbound.RouteRegister("q", "u", glob("**/x")))
        self.playbook.take()
        self.acknowledges()
        self.agent.sends(start("mine", "http://h.test/x"))
        self.playbook.take()
        self.worker.sends(inbound.TestUnregister("u"))

    def failed(self, effects: Effects) -> list[inbound.Message]:
        return sent(effects, outbound.ProxyError)

    def ended(self, effects: Effects) -> list[inbound.Message]:
        return sent(effects, outbound.TestUnregistered)

    def test_given_up(self) -> None:
        """An abort of the application that was on its way does not fail the test."""
        self.begin()
        effects = self.playbook.take()
        self.assertEqual(len(sent(effects, Sync)), 1)
        self.assertEqual([*self.failed(effects), *self.ended(effects)], [])
        self.agent.sends(inbound.RequestCancel("mine"))
        self.playbook.take()
        effects = self.acknowledges()
        self.assertEqual(self.failed(effects), [])
        self.assertEqual(len(self.ended(effects)), 1)

    def test_waits(self) -> None:
        """A request whose application waits on fails the test as soon as the agent has answered."""
        self.begin()
        self.playbook.take()
        effects = self.acknowledges()
        self.assertEqual((len(self.failed(effects)), len(self.ended(effects))), (1, 1))

    def test_silent_agent(self) -> None:
        """An agent that does not answer holds the end up for the time of a lease."""
        self.begin()
        self.playbook.take()
        self.playbook.wait(LEASE_SECONDS)
        effects = self.playbook.take()
        self.assertEqual((len(self.failed(effects)), len(self.ended(effects))), (1, 1))

    def test_ends_twice(self) -> None:
        """A second end meanwhile is acknowledged as well, and changes nothing."""
        self.begin()
        self.playbook.take()
        self.worker.sends(inbound.TestUnregister("u"))
        self.playbook.take()
        effects = self.acknowledges()
        self.assertEqual((len(self.failed(effects)), len(self.ended(effects))), (1, 2))

    def test_lost_worker(self) -> None:
        """A worker that is lost meanwhile ends its test at once."""
        self.begin()
        self.playbook.take()
        self.worker.closes()
        self.assertEqual([*self.playbook.coordinator.state.registry.tests], ["t"])
        self.playbook.take()
        self.assertEqual(self.acknowledges(), [])
