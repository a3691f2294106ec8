"""Strict mode at the end of tests and workers: nothing slips out in between."""

from tests.core.strict.case import OF_WORKERS, URL, A, B, StrictCase, messages
from tests.support.builders import predicate
from tests.support.playbook import SETTINGS
from trafficmock.core.ownership.contexts import LATE_SECONDS
from trafficmock.core.ownership.lost_runs import LOST_SECONDS
from trafficmock.wire import inbound, outbound
from trafficmock.wire.agent_filter import FilterDrop, FilterEntry, FilterSet


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

    def test_late_beside_a_strict_test(self) -> None:
        """Nor does the strictness of a test that runs meanwhile count for it."""
        self.registers(allow=None)
        self.registers("sells", context=B, worker=self.other)
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
        self.playbook.wait(SETTINGS.strict_quiet)
        self.playbook.take()
        self.assert_passed(self.asks("http://auth.example/", context=None, request_id="r3"))
        self.refused(self.asks("http://b.test/", context=None, request_id="r4"))
