"""The records of tests: when they begin and end, and with which result."""

from typing import Any

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.playbook import Playbook
from trafficmock.records import TestBegan, TestEnded
from trafficmock.wire.inbound import TestRegister, TestUnregister

CONTEXT = "0af7651916cd43dd8448eb211c80319c"


class TestRecordTests(SynchronousTestCase):
    """The export gets them; the history does not."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.worker = self.playbook.worker(features=["context"])

    def register(self, **more: Any) -> None:
        self.worker.sends(TestRegister("t1", "pays", "f.py", "0", **more))
        self.playbook.take()

    def unregister(self, *, passed: bool | None) -> None:
        self.worker.sends(TestUnregister("t1", UNSET if passed is None else passed))
        self.playbook.take()

    def test_result(self) -> None:
        """A test begins once, with its context, and ends with its result."""
        for passed in (True, False, None):
            self.playbook.tests.clear()
            self.register(context=CONTEXT)
            self.register(context=CONTEXT)
            self.unregister(passed=passed)
            worker = self.worker.id
            began = TestBegan("t1", "pays", "f.py", CONTEXT, worker)
            ended = TestEnded("t1", passed)
            self.assertEqual(self.playbook.tests, [began, ended])

    def test_worker_lost(self) -> None:
        """The tests of a lost worker end without a result."""
        self.register()
        self.worker.dies()
        self.playbook.take()
        began = TestBegan("t1", "pays", "f.py", None, self.worker.id)
        expected = [began, TestEnded("t1", passed=None)]
        self.assertEqual(self.playbook.tests, expected)

    def test_shared(self) -> None:
        """Shared routes of a worker are no test of the run, but traffic of it."""
        self.register(scope="worker")
        self.unregister(passed=None)
        began = TestBegan("t1", "pays", "f.py", None, self.worker.id, shared=True)
        self.assertEqual(self.playbook.tests, [began])
