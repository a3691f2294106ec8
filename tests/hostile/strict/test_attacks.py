"""Nothing leaves in strict mode, whatever ends, stops or loses its connection (deep).

``TRAFFICMOCK_ROUNDS`` says how often each attack is done, ``TRAFFICMOCK_SEED`` when it strikes.
"""

import os
import signal
import time
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.hostile.strict.lab import ALLOWED, Lab, Worker, chance, now_ms
from tests.support.hypothesis_profiles import DEEP
from trafficmock.testing import sync
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.objects.blocking.traffic_mock import finish
from trafficmock.testing.session.session import TestInfo

ROUNDS = int(os.environ.get("TRAFFICMOCK_ROUNDS", "6"))
SEED = os.environ.get("TRAFFICMOCK_SEED")
UNOWNED = {"node", "preload", "plain"}
STRICT = TestInfo(title="strict", file="t.py", strict=True)


class LocalTests(SynchronousTestCase):
    """A service and applications that never rest, whose agents decide some; an upstream counts."""

    local = True
    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def setUp(self) -> None:
        chance.seed(SEED)
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        self.lab = self.enterContext(Lab(folder, local=self.local))
        self.since = now_ms()

    def connected(self) -> ThreadedConnection:
        connection = ThreadedConnection(self.lab.url)
        self.addCleanup(connection.close)
        return connection

    def assert_sealed(self, kinds: set[str]) -> None:
        """See that nothing left since the attack began, but what is allowed."""
        self.assertEqual(self.lab.leaked(self.since, now_ms(), kinds), [])

    def test_restart(self) -> None:
        """A strict service ends, by a signal that it hears of or not, and is started again."""
        options = ("--strict", "--allow", ALLOWED)
        self.lab.end_service(signal.SIGTERM)
        self.lab.start_service(*options)
        self.since = now_ms()
        for _ in range(ROUNDS):
            time.sleep(chance.uniform(0, 0.3))
            self.lab.end_service(chance.choice([signal.SIGKILL, signal.SIGTERM]))
            time.sleep(chance.uniform(0, 0.5))
            self.lab.start_service(*options)
            time.sleep(chance.uniform(0.5, 1.5))
        self.assert_sealed(UNOWNED)
        self.lab.end_service(signal.SIGTERM)
        self.lab.start_service()
        self.lab.until_kinds(UNOWNED)

    def test_link(self) -> None:
        """The link between agent and service is cut or held, in a strict run and a strict test."""
        connection = self.connected()
        connection.make_run_strict([ALLOWED])
        self.since = now_ms()
        mocks, _ = sync.begin(connection, STRICT)
        for _ in range(ROUNDS):
            self.lab.go("own", context=mocks.id, count=20, spread=30)
            time.sleep(chance.uniform(0, 0.2))
            if chance.random() < 0.5:
                self.lab.relay.cut()
            else:
                self.lab.relay.hold(chance.uniform(0, 1.5))
        self.assert_sealed({*UNOWNED, "own"})
        finish(mocks)

    def test_tests(self) -> None:
        """Strict tests of a run that is not strict begin and end, while their requests go on."""
        connection, contexts = self.connected(), []
        for number in range(ROUNDS):
            mocks, _ = sync.begin(connection, STRICT)
            contexts.append(mocks.id)
            if number % 3 == 0:
                mocks.route("**/own", lambda route: route.fulfill(body="mine"), times=2)
            elif number % 3 == 1:
                mocks.route(lambda url: "nothing" in url, lambda route: route.fulfill(body=""))
            else:
                mocks.mock("**/own", body="mine", times=1)
            self.lab.go("own", context=mocks.id, count=12, spread=15)
            time.sleep(chance.uniform(0, 0.1))
            finish(mocks)
            # Late ones, on top of those that still come.
            self.lab.go("own", context=chance.choice(contexts[-20:]), count=3, spread=5)
        time.sleep(0.5)
        self.assert_sealed({"own"})

    def test_workers(self) -> None:
        """The only worker of a strict run is killed, or stopped for a while; the next one comes."""
        worker = Worker.start(self.lab.url)
        self.since = now_ms()
        for _ in range(ROUNDS):
            self.lab.go("own", context=worker.context, count=40, spread=40)
            time.sleep(chance.uniform(0, 0.3))
            process = worker.child.process
            if chance.random() < 0.3:
                process.send_signal(signal.SIGSTOP)
                time.sleep(chance.uniform(0, 2))
                process.send_signal(signal.SIGCONT)
                continue
            process.kill()
            time.sleep(chance.uniform(0, 1))
            worker.child.stop()
            worker = Worker.start(self.lab.url)
        self.assert_sealed({*UNOWNED, "own"})
        worker.child.stop()

    def test_between(self) -> None:
        """Tests begin and end in a strict run: what is nobody's stays."""
        connection = self.connected()
        connection.make_run_strict([ALLOWED])
        self.since = now_ms()
        for _ in range(ROUNDS):
            time.sleep(chance.uniform(0, 0.05))
            mocks, _ = sync.begin(connection, TestInfo(title="any", file="t.py", strict=True))
            mocks.route("**/plain", lambda route: route.fulfill(body="mine"), times=1)
            time.sleep(chance.uniform(0, 0.05))
            finish(mocks)
        self.assert_sealed(UNOWNED)


class AskedTests(LocalTests):
    """Agents ask about everything."""

    local = False
