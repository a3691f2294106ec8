"""Strict mode at the end of tests, workers and processes: nothing slips out in between."""

from __future__ import annotations

from msgspec import UNSET

from tests.core.strict.case import OF_WORKERS, URL, A, B, StrictCase, messages
from tests.support.builders import predicate
from trafficmock.core.effects import KeepStrictness, Note
from trafficmock.core.local.leases import LEASE_SECONDS
from trafficmock.core.ownership.contexts import LATE_SECONDS, MOST_LATE_KEPT
from trafficmock.core.ownership.kept_strictness import KeptStrictness, KeptTest
from trafficmock.core.ownership.lost_runs import ENDED_SECONDS, LOST_SECONDS
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.records import RequestPassedThrough
from trafficmock.wire import inbound, outbound
from trafficmock.wire.agent_filter import FilterDrop, FilterEntry, FilterSet

C = "c" * 32
KEPT_TEST = KeptTest(A, "buys", "buys", "buys.py", ("auth.example",))


class EndCase(StrictCase):
    """What the tests of ends share."""

    def ends(self, test_id: str = "buys") -> list[object]:
        """Unregister a test."""
        self.worker.sends(inbound.TestUnregister(test_id))
        return list(self.playbook.take())

    def run_strict(self, *allow: str) -> None:
        self.worker.sends(inbound.RunStrict("q", list(allow)))
        (answer,) = messages(self.playbook.take(), self.worker)
        self.assertEqual(answer, outbound.RunStricted("q"))


class TestEndTests(EndCase):
    """The end of a strict test."""

    def test_late(self) -> None:
        """What comes late is refused unless the test allowed it, and fails the run."""
        self.registers(allow=["auth.example"])
        self.ends()
        text = self.refused(self.asks())
        self.assertIn('It was made for the test "buys", which has ended.', text)
        self.assertIn("allows only auth.example", text)
        self.assert_passed(self.asks("https://auth.example/", request_id="r2"))
        self.worker.sends(inbound.UnmatchedQuery("q"))
        (answer,) = messages(self.playbook.take(), self.worker)
        assert isinstance(answer, outbound.Unmatched)
        self.assertEqual([row.url for row in answer.requests], [URL])
        self.playbook.wait(LATE_SECONDS)
        self.playbook.take()
        self.assert_passed(self.asks(request_id="r3"), "long afterwards")

    def test_late_without_strict_mode(self) -> None:
        """What comes late for another test passes, as before."""
        self.registers(allow=None)
        self.ends()
        self.assert_passed(self.asks())

    def test_late_in_a_run(self) -> None:
        """What the run allows counts, not what the test did."""
        self.run_strict("b.test")
        self.registers(allow=["a.test"])
        self.ends()
        self.refused(self.asks("http://a.test/"))
        self.assert_passed(self.asks("http://b.test/", request_id="r2"))

    def test_worker_lost(self) -> None:
        """A worker that is killed does not let its test's requests out."""
        self.registers()
        self.worker.dies()
        self.playbook.take()
        self.refused(self.asks())

    def test_asked_at_the_end(self) -> None:
        """What a test is asked about when it ends is refused."""
        for context in (A, None):
            for lost in (False, True):
                self.begin()
                self.registers(context=context)
                self.routes(predicate("**/v1/**"))
                asked = messages(self.asks(context=context), self.worker)
                self.assertIsInstance(asked[-1], outbound.RequestClaim)
                if lost:
                    self.worker.dies()
                else:
                    self.worker.sends(inbound.TestUnregister("buys"))
                self.refused(self.playbook.take())

    def test_filter(self) -> None:
        """Agents go on asking about the context of a strict test that ended."""
        agent = self.playbook.agent("local", features=("context", "local", "strict"))
        self.worker.sends(
            inbound.TestRegister("buys", "", "", "0", "c1", strict=inbound.Strict([]))
        )
        self.playbook.take()
        self.ends()
        agent.dies()
        self.playbook.take()
        self.playbook.wait(1.5)
        self.playbook.take()
        late = self.playbook.connect("late")
        hello = inbound.Hello(3, "1", "node", "late", features=["context", "local", "strict"])
        late.sends(hello)
        (given,) = [m for m in messages(self.playbook.take(), late) if isinstance(m, FilterSet)]
        self.assertIn(FilterEntry(context="c1"), given.entries)
        self.playbook.wait(LATE_SECONDS - 3)
        dropped = [m for m in messages(self.playbook.take(), late) if isinstance(m, FilterDrop)]
        self.assertEqual(dropped, [])


class LostRunTests(EndCase):
    """A strict run whose worker is gone without a word."""

    def test_lost(self) -> None:
        """It stays strict for a while, so that the worker, or another, can come back."""
        self.run_strict("auth.example")
        self.worker.dies()
        self.playbook.take()
        self.assertIn("A strict run lost its worker", self.playbook.notes[-1])
        self.playbook.wait(LOST_SECONDS - 1)
        self.playbook.take()
        text = self.refused(self.asks(context=None))
        self.assertIn("No strict run is connected", text)
        self.assertRegex(text, r"lasts until \d\d:\d\d:\d\d UTC.* Wait until then, or start the")
        self.assertNotIn("dd a route", text)
        self.assert_passed(self.asks("http://auth.example/", context=None, request_id="r2"))
        self.playbook.wait(2)
        self.playbook.take()
        self.assert_passed(self.asks(context=None, request_id="r3"))

    def test_back(self) -> None:
        """A worker that came back keeps it strict beyond that."""
        self.run_strict()
        self.worker.dies()
        self.playbook.take()
        self.worker = self.playbook.worker("2", features=OF_WORKERS)
        self.run_strict()
        self.assertIn("Add a route", self.refused(self.asks(context=None, request_id="r0")))
        self.playbook.wait(LOST_SECONDS + 1)
        self.playbook.take()
        self.refused(self.asks(context=None))

    def test_next_run(self) -> None:
        """A run that begins meanwhile allows what itself does, not what the lost one did."""
        self.run_strict("auth.example")
        self.worker.dies()
        self.playbook.take()
        self.assert_passed(self.asks("http://auth.example/", context=None))
        self.worker = self.playbook.worker("2", features=OF_WORKERS)
        self.run_strict("b.test")
        text = self.refused(self.asks("http://auth.example/", context=None, request_id="r2"))
        self.assertIn("allows only b.test", text)
        self.worker.closes()
        self.playbook.take()
        self.playbook.wait(ENDED_SECONDS)
        self.playbook.take()
        self.assert_passed(self.asks("http://auth.example/", context=None, request_id="r3"))
        self.refused(self.asks("http://b.test/", context=None, request_id="r4"))


class KeptTests(EndCase):
    """What the next process on the same port is told."""

    def setUp(self) -> None:
        self.begin()
        self.taken_over(KeptStrictness())

    def taken_over(self, kept: KeptStrictness) -> list[object]:
        playbook = self.playbook
        effects = playbook.coordinator.take_over(kept, playbook.now())
        # Answers wait until no agent of that process decides by itself.
        playbook.wait(LEASE_SECONDS)
        return list(effects)

    def kept(self) -> KeptStrictness | None:
        """Give what was to be kept last, and see that it came before what a worker hears of it."""
        effects = self.playbook.take()
        kept = [n for n, e in enumerate(effects) if isinstance(e, KeepStrictness)]
        if not kept:
            return None
        heard = [n for n, e in enumerate(effects) if e in self.acknowledgements(effects)]
        self.assertTrue(all(kept[-1] < n for n in heard), effects)
        (*_, last) = [e.kept for e in effects if isinstance(e, KeepStrictness)]
        return last

    def acknowledgements(self, effects: object) -> list[object]:
        acks = (outbound.TestRegistered, outbound.TestStricted, outbound.RunStricted)
        return [e for e in effects if isinstance(getattr(e, "message", None), acks)]  # type: ignore[attr-defined]

    def register(self, context: str | None = A) -> None:
        strict = inbound.Strict(["auth.example"])
        self.worker.sends(
            inbound.TestRegister("buys", "buys", "buys.py", "0", context or UNSET, strict=strict)
        )

    def test_test(self) -> None:
        """A strict test is kept until it ends."""
        self.register()
        self.assertEqual(self.kept(), KeptStrictness(tests=(KEPT_TEST,)))
        self.worker.sends(inbound.TestStrict("buys", ["b.test"]))
        kept = self.kept()
        assert kept is not None
        self.assertEqual(kept.tests[0].allow, ("b.test",))
        self.worker.sends(inbound.TestUnregister("buys"))
        self.assertIsNone(self.kept(), "what comes late is refused as well")
        self.playbook.wait(LATE_SECONDS)
        self.assertEqual(self.kept(), KeptStrictness())

    def test_late_ones(self) -> None:
        """A test that begins when others ended long ago is kept without them."""
        self.register()
        self.kept()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.kept()
        self.playbook.wait(LATE_SECONDS - 1)
        self.playbook.take()
        for title, context in (("sells", B), ("lends", C)):
            strict = inbound.Strict([])
            self.worker.sends(inbound.TestRegister(title, title, "", "0", context, strict=strict))
            kept = self.kept()
        assert kept is not None
        self.assertEqual([test.title for test in kept.tests], ["buys", "sells", "lends"])
        self.playbook.wait(1)
        self.assertIsNone(self.kept())
        self.worker.sends(inbound.TestStrict("lends"))
        kept = self.kept()
        assert kept is not None
        self.assertEqual([test.title for test in kept.tests], ["sells"])
        self.worker.dies()
        self.assertIsNone(self.kept())

    def test_most(self) -> None:
        """Of very many that ended, so many are kept beside the one that runs."""
        for number in range(MOST_LATE_KEPT + 2):
            strict, test_id = inbound.Strict([]), f"t{number}"
            context = f"{number + 1:032x}"
            self.worker.sends(inbound.TestRegister(test_id, "", "", "0", context, strict=strict))
            kept = self.kept()
            self.worker.sends(inbound.TestUnregister(test_id))
            self.playbook.take()
        assert kept is not None
        self.assertEqual(len(kept.tests), MOST_LATE_KEPT + 1)
        self.assertEqual(kept.tests[-1].test_id, test_id)

    def test_run(self) -> None:
        """A run is kept until its worker has been gone for long."""
        self.worker.sends(inbound.RunStrict("q", ["a.test"]))
        self.assertEqual(self.kept(), KeptStrictness((("a.test",),)))
        self.register()
        self.assertIsNone(self.kept(), "the run says enough")
        self.worker.dies()
        self.kept()
        self.playbook.wait(LOST_SECONDS)
        self.assertEqual(self.kept(), KeptStrictness())

    def test_only_test(self) -> None:
        """The only test without a context is kept as a run: its requests have no sign."""
        self.register(context=None)
        self.assertEqual(self.kept(), KeptStrictness((("auth.example",),)))

    def test_stop(self) -> None:
        """What is kept outlasts the end of the service."""
        self.worker.sends(inbound.RunStrict("q", []))
        self.kept()
        self.playbook.stop()
        self.playbook.take()
        self.worker.closes()
        self.assertIsNone(self.kept())

    def test_strict_service(self) -> None:
        """A service that is strict by itself keeps nothing."""
        self.begin(strict=read_allow_list([]))
        self.taken_over(KeptStrictness())
        self.register()
        self.assertIsNone(self.kept())

    def test_strict_service_takes_over(self) -> None:
        """Nor does it allow what a run of the process before did."""
        self.begin(strict=read_allow_list(["b.test"]))
        self.taken_over(KeptStrictness((("auth.example",),)))
        text = self.refused(self.asks("http://auth.example/", context=None))
        self.assertIn("allows only b.test", text)

    def test_two_runs(self) -> None:
        """Of a lost run and one that is connected, the next process is told of the latter."""
        self.worker.sends(inbound.RunStrict("q", ["a.test"]))
        self.kept()
        self.worker.dies()
        self.assertIsNone(self.kept())
        worker = self.playbook.worker("2", features=OF_WORKERS)
        worker.sends(inbound.RunStrict("q", ["b.test"]))
        self.assertEqual(self.kept(), KeptStrictness((("b.test",),)))
        worker.closes()
        self.assertEqual(self.kept(), KeptStrictness((("a.test",), ("b.test",))))
        self.playbook.wait(ENDED_SECONDS)
        self.assertEqual(self.kept(), KeptStrictness((("a.test",),)))

    def test_two_runs_taken_over(self) -> None:
        """Both are waited for, and told to the process after that one."""
        self.begin()
        kept = KeptStrictness((("a.test",), ("b.test",)))
        effects = self.taken_over(kept)
        self.assertEqual([e.kept for e in effects if isinstance(e, KeepStrictness)], [kept])
        for number, url in enumerate(("http://a.test/", "http://b.test/")):
            self.assert_passed(self.asks(url, context=None, request_id=f"r{number}"))
        self.refused(self.asks(context=None, request_id="r3"))

    def test_taken_over(self) -> None:
        """The next process refuses the same, for a while, and says so in the log."""
        self.begin()
        effects = self.taken_over(KeptStrictness((("auth.example",),)))
        (note,) = [e for e in effects if isinstance(e, Note)]
        self.assertIn("Strict mode goes on", note.text)
        self.refused(self.asks(context=None))
        self.assert_passed(self.asks("http://auth.example/", context=A, request_id="r2"))
        self.playbook.wait(LOST_SECONDS + 1)
        self.playbook.take()
        self.assert_passed(self.asks(context=None, request_id="r3"))

    def test_test_begins_at_once(self) -> None:
        """A test may begin while no agent has come yet, and others may still decide."""
        self.begin()
        kept = KeptStrictness(tests=(KEPT_TEST,))
        self.playbook.coordinator.take_over(kept, self.playbook.now())
        self.register(context=B)
        self.assertIsNotNone(self.kept())
        self.playbook.wait(LEASE_SECONDS)
        (ack,) = messages(self.playbook.take(), self.worker)
        self.assertIsInstance(ack, outbound.TestRegistered)

    def test_test_taken_over(self) -> None:
        """Of a test, the requests with its context are refused, and it may come back."""
        self.begin()
        kept = KeptStrictness(tests=(KEPT_TEST,))
        effects = self.taken_over(kept)
        self.assertEqual([e.kept for e in effects if isinstance(e, KeepStrictness)], [kept])
        self.assertIn('"buys", which has ended', self.refused(self.asks()))
        passed = self.asks(context=None, request_id="r2")
        self.assertEqual(len([e for e in passed if isinstance(e, RequestPassedThrough)]), 1)
        self.registers(allow=None)
        self.assert_passed(self.asks(request_id="r3"))
