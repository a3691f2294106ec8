"""Strict mode that changes while a test runs, who knows the feature, and limits."""

from msgspec import UNSET

from tests.core.strict.case import URL, A, B, StrictCase, messages
from trafficmock.core.ownership.refusals import MOST_NOTICES
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.records import RequestSeen
from trafficmock.wire import inbound, outbound

NOTHING = read_allow_list([])


class ChangeTests(StrictCase):
    """Strict mode that begins, changes and ends within a test."""

    def strict(self, test_id: str, *allow: str) -> None:
        self.worker.sends(inbound.TestStrict(test_id, list(allow)))

    def test_begins_and_ends(self) -> None:
        """Each message replaces the patterns; without any the test is not strict."""
        self.registers(allow=None)
        stricted = self.worker.gets(outbound.TestStricted("buys"))
        self.strict("buys")
        self.playbook.expect(stricted)
        self.refused(self.asks())
        self.strict("buys", "api.test")
        self.playbook.expect(stricted)
        self.assert_passed(self.asks(request_id="r2"))
        self.strict("buys", "other.test")
        self.playbook.expect(stricted)
        self.refused(self.asks(request_id="r3"))
        self.worker.sends(inbound.TestStrict("buys"))
        self.playbook.expect(stricted)
        self.assert_passed(self.asks(request_id="r4"))

    def test_bad_patterns(self) -> None:
        """A pattern that cannot be read changes nothing, and says why."""
        self.registers(allow=["api.test"])
        self.strict("buys", "a b")
        self.assertIn("'a b' is no host", self.told(self.playbook.take())[0].message)
        self.assert_passed(self.asks())

    def test_bad_registration(self) -> None:
        """A test with such a pattern is not registered."""
        strict = inbound.Strict(["::1::"])
        self.worker.sends(inbound.TestRegister("buys", "t", "f", "0", A, strict=strict))
        (error,) = self.told(self.playbook.take())
        self.assertEqual((error.code, error.test_id), ("invalid_message", "buys"))
        self.assertIn("with a port [::1]:8080", error.message)
        self.registers()

    def test_foreign(self) -> None:
        """A test is made strict by its own worker, once it is registered."""
        self.registers("sells", context=B, allow=None, worker=self.other)
        for test_id in ("sells", "unknown"):
            self.strict(test_id)
            (error,) = self.told(self.playbook.take())
            self.assertEqual((error.code, error.test_id), ("invalid_message", test_id))
        self.assert_passed(self.asks(context=B))

    def test_gone_with_the_test(self) -> None:
        """Nothing stays of it when the test or its worker is gone."""
        self.registers()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.playbook.take()
        self.registers("sells", context=B, worker=self.other)
        self.other.dies()
        self.playbook.take()
        own = [key for key in self.playbook.tables() if "strict" in key]
        self.assertEqual([key for key in own if ".contexts." not in key], [])


class FeatureTests(StrictCase):
    """Clients without the feature see nothing of it."""

    def test_agent(self) -> None:
        """An agent without the feature hears of an internal error with the same text."""
        self.registers()
        old = self.playbook.agent("old", features=["context"])
        effects = self.asks(agent=old)
        (decision,) = messages(effects, old)
        assert isinstance(decision, outbound.DecisionError)
        self.assertEqual(decision.code, "internal")
        told = self.told(effects)[0].message
        self.assertEqual(f"{decision.message} It was sent by client old.", told)

    def test_worker(self) -> None:
        """A worker without the feature is not strict, and its messages are dropped."""
        old = self.playbook.worker("2", features=["context", "subscribe"])
        self.registers("old", context=B, worker=old)
        for message in (
            inbound.TestStrict("old", []),
            inbound.RunStrict("q1", []),
            inbound.UnmatchedQuery("q2"),
        ):
            old.sends(message)
            self.playbook.expect()
        self.assert_passed(self.asks(context=B))
        self.assert_passed(self.asks(context=None, request_id="r2"))

    def test_worker_under_a_strict_service(self) -> None:
        """Its test cannot be told, so the request is on the list of the run."""
        self.begin(strict=NOTHING)
        old = self.playbook.worker("2", features=["context", "subscribe"])
        self.registers("old", context=B, allow=None, worker=old)
        effects = self.asks(context=B)
        self.assertEqual(self.told(effects, old), [])
        self.refused(effects)
        self.worker.sends(inbound.UnmatchedQuery("q"))
        (answer,) = messages(self.playbook.take(), self.worker)
        assert isinstance(answer, outbound.Unmatched)
        self.assertEqual([row.url for row in answer.requests], [URL])


class LimitTests(StrictCase):
    """An application that asks in a loop."""

    def test_most_told(self) -> None:
        """The worker hears of so many refusals, and which is the last; all are refused."""
        self.registers()
        self.routes("**/v1/charge")
        told = []
        for number in range(MOST_NOTICES + 2):
            effects = self.asks(request_id=f"r{number}")
            self.refused(effects)
            told += self.told(effects)
        self.assertEqual(len(told), MOST_NOTICES)
        last = [error.detail.last for error in told]
        self.assertEqual(set(last[:-1]), {UNSET})
        self.assertTrue(last[-1])

    def test_observers(self) -> None:
        """Observers hear how it ended, and the history knows the test."""
        self.registers()
        self.worker.sends(inbound.TestSubscribe("buys"))
        self.playbook.take()
        effects = self.asks()
        (seen,) = [each for each in effects if isinstance(each, RequestSeen)]
        assert seen.carried is not None
        self.assertEqual(seen.carried.test_id, "buys")
        ends = [m for m in messages(effects, self.worker) if isinstance(m, inbound.RequestResponse)]
        assert ends[0].error is not UNSET
        self.assertEqual(ends[0].error.code, "unmatched_request")
