"""A strict test or run fails if no application was seen."""

from typing import Any

from attrs import evolve

from tests.core.strict.case import OF_AGENTS, OF_WORKERS, A, B, messages
from tests.core.strict.test_runs import NOTHING, RunCase
from tests.support.playbook import SETTINGS, Playbook
from trafficmock.wire import inbound, outbound


class SeenApplicationsTests(RunCase):
    """Two workers, and an application only where a test says so."""

    def begin(self, **settings: Any) -> None:
        self.playbook = Playbook(self, evolve(SETTINGS, **settings))
        self.worker = self.playbook.worker("0", features=OF_WORKERS)
        self.other = self.playbook.worker("1", features=OF_WORKERS)

    def ends(self) -> list[str]:
        """End the test, and return the codes of its errors; they come before the answer."""
        self.worker.sends(inbound.TestUnregister("buys"))
        *errors, last = messages(self.playbook.take(), self.worker)
        self.assertEqual(last, outbound.TestUnregistered("buys"))
        return [each.code for each in errors if isinstance(each, outbound.ProxyError)]

    def is_missing(self) -> bool:
        return bool(self.listed().no_application)

    def test_strict_test(self) -> None:
        """A strict test without an application fails; one that is not strict does not."""
        self.registers()
        self.assertEqual(self.ends(), ["no_application"])
        self.registers(allow=None)
        self.assertEqual(self.ends(), [])

    def test_strict_later(self) -> None:
        """The strictness at the end of the test counts."""
        self.registers(allow=None)
        self.worker.sends(inbound.TestStrict("buys", []))
        self.playbook.take()
        self.assertEqual(self.ends(), ["no_application"])

    def test_seen(self) -> None:
        """An application that has left was seen; a request of this very test is not needed."""
        agent = self.playbook.agent("shop", features=OF_AGENTS)
        agent.dies()
        self.playbook.take()
        self.registers()
        self.assertEqual(self.ends(), [])

    def test_run(self) -> None:
        """A strict run fails at its end, not each of its tests."""
        self.run_strict()
        self.registers()
        self.assertEqual(self.ends(), [])
        self.assertTrue(self.is_missing())
        self.playbook.agent("shop", features=OF_AGENTS)
        self.assertFalse(self.is_missing())

    def test_service(self) -> None:
        """A strict service makes each run strict."""
        self.begin(strict=NOTHING)
        self.registers(allow=None)
        self.assertEqual(self.ends(), [])
        self.assertTrue(self.is_missing())

    def test_not_strict(self) -> None:
        """A run that is not strict does not need an application."""
        self.registers(allow=None)
        self.assertFalse(self.is_missing())

    def test_no_test(self) -> None:
        """Unit tests without mocks, and shared routes, do not need an application."""
        self.run_strict()
        self.registers(shared=True, context=None, allow=None)
        self.assertFalse(self.is_missing())

    def test_next_run(self) -> None:
        """An application that left before a run is not seen in it; one that stayed is."""
        for stays in (True, False):
            agent = self.playbook.agent("shop", features=OF_AGENTS)
            self.run_strict()
            self.registers("sells", context=B)
            if not stays:
                agent.dies()
            self.playbook.take()
            self.worker.closes()
            self.playbook.take()
            self.worker = self.playbook.worker(f"next-{stays}", features=OF_WORKERS)
            self.run_strict()
            self.registers(context=A)
            self.assertEqual(self.is_missing(), not stays)
            if stays:
                agent.dies()
                self.playbook.take()
