"""Routes of the run: each worker registers them, and they are one route."""

from typing import Any

from msgspec import UNSET

from tests.core.ownership.context_case import OURS, A, B, ContextCase
from tests.support.builders import (
    glob,
    options,
    response,
)
from tests.support.playbook import RegisteredTest, WorkerPeer
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.answer import Fallback, Fulfill

URL = "http://h.test/**"


class RunRoutesCase(ContextCase):
    """Three workers with the routes of a run; each test of theirs has a context."""

    def begin(self, **settings: Any) -> None:
        super().begin(**settings)
        features = sorted((*OURS, "chain"))
        self.workers = [self.playbook.worker(name, features=features) for name in "234"]
        self.all = [self.of_run(worker) for worker in self.workers]

    def of_run(self, worker: WorkerPeer) -> RegisteredTest:
        return self.registered(worker, f"run {worker.id[-1]}", scope="run")

    def answered(
        self, context: str | None = None, request_id: str = "r1"
    ) -> tuple[str, int] | None:
        """Start a request; return which test's reply it got, and the status."""
        self.starts(context, request_id)
        effects = self.playbook.take()
        messages = [each.message for each in effects if hasattr(each, "message")]
        replied = [each for each in messages if isinstance(each, outbound.RequestReplied)]
        sent = [each for each in messages if isinstance(each, outbound.DecisionFulfill)]
        if not replied:
            return None
        return replied[0].test_id, sent[0].response.status

    def ran(self, context: str | None = None, request_id: str = "r1") -> str | None:
        """Start a request; return the test whose handler runs for it."""
        self.starts(context, request_id)
        runs = self.sent(outbound.HandlerRun)
        return runs[0][1].test_id if runs else None

    def refused(self, test: RegisteredTest, **given: Any) -> str:
        """Register a route that is refused, and return the error."""
        self.playbook.take()
        message = inbound.RouteRegister("late", test.id, glob(URL), **given)
        test.worker.sends(message)
        ((to, error),) = self.sent(outbound.ProxyError)
        self.assertEqual(to, (test.worker.id,))
        self.assertEqual(
            (error.code, error.test_id, error.route_id), ("invalid_message", test.id, "late")
        )
        return error.message


class OneRouteTests(RunRoutesCase):
    """The registrations of all workers are one route."""

    def test_without_context(self) -> None:
        """A request of no test gets the answer of the worker that came first."""
        for test in self.all:
            test.route(URL, reply=response(204))
        self.assertEqual(self.answered(), ("run 2", 204))

    def test_handler(self) -> None:
        """A function runs in the worker that came first, or in that of the test."""
        for test in self.all:
            test.route(URL)
        self.assertEqual(self.ran(), "run 2")
        self.registered(self.workers[2], "lends", "e" * 32)
        self.assertEqual(self.ran("e" * 32, "r2"), "run 4")

    def test_every_worker(self) -> None:
        """It serves the tests of workers that have not registered it, after all other routes."""
        self.all[1].route(URL, reply=response(204))
        self.assertEqual(self.answered(A), ("run 3", 204))
        self.a.route()
        self.assertEqual(self.owner(A, "r2"), "buys")
        self.assertEqual(self.owner(None, "r3"), "buys")
        self.assertEqual(self.answered(B, "r4"), ("run 3", 204))

    def test_after_shared(self) -> None:
        """Routes that are shared by one worker come first, also those that are older."""
        shared = self.registered(self.workers[0], "all", shared=True)
        shared.route(URL, reply=response(200))
        self.all[0].route(URL, reply=response(204))
        self.assertEqual(self.answered(), ("all", 200))

    def test_newest(self) -> None:
        """Of two routes the one wins that came into the run last, whoever has it."""
        self.all[0].route(URL, reply=response(200))
        self.all[1].route(URL, reply=response(200))
        self.all[1].route(reply=response(201))
        self.assertEqual(self.answered(), ("run 3", 201))
        self.all[0].route(reply=response(201))
        self.all[2].route(URL, reply=response(200))
        self.assertEqual(self.answered(None, "r2"), ("run 3", 201))

    def test_another_order(self) -> None:
        """The same one wins in a worker that registered them in another order."""
        self.all[0].route(URL, reply=response(200))
        self.all[0].route(reply=response(201))
        self.all[1].route(reply=response(201))
        self.all[1].route(URL, reply=response(200))
        self.registered(self.workers[1], "lends", "e" * 32)
        self.assertEqual(self.answered("e" * 32), ("run 3", 201))

    def test_fallback(self) -> None:
        """A handler of a test falls back to its worker's copy."""
        test = self.registered(self.workers[1], "lends", "e" * 32)
        for each in self.all:
            each.route(URL, reply=response(204))
        test.route(URL)
        self.starts("e" * 32)
        ((_, run),) = self.sent(outbound.HandlerRun)
        fallback = Fallback()
        self.workers[1].sends(inbound.HandlerResult("r1", fallback, run.run_id))
        ((_, replied),) = self.sent(outbound.RequestReplied)
        self.assertEqual(replied.route_id, "run 3#1")

    def test_without_contexts(self) -> None:
        """The scope of a worker without contexts is not read: its routes are those of a test."""
        workers = [self.playbook.worker(name, features=["chain"]) for name in "56"]
        for worker in workers:
            title = f"run {worker.id[-1]}"
            worker.sends(inbound.TestRegister(title, title, "f.py", worker.id[-1], UNSET, "run"))
            self.playbook.take()
            RegisteredTest(worker, title).route(URL, reply=response(204))
        self.assertIsNone(self.answered())


class EndTests(RunRoutesCase):
    """It ends with the last worker that registered it."""

    def test_others_stay(self) -> None:
        """A worker that ends or dies takes its copy alone, and the order stays."""
        for test in self.all:
            test.route(URL, reply=response(204))
        self.all[0].ends()
        self.playbook.take()
        self.assertEqual(self.answered(), ("run 3", 204))
        self.workers[1].dies()
        self.playbook.take()
        self.assertEqual(self.answered(None, "r2"), ("run 4", 204))
        self.all[2].ends()
        self.playbook.take()
        self.assertIsNone(self.answered(None, "r3"))

    def test_next_run(self) -> None:
        """After the last worker another answer may be registered."""
        self.all[0].route(URL, reply=response(200), times=1)
        self.answered()
        for test in self.all:
            test.ends()
            self.playbook.take()
        self.of_run(self.workers[0]).route(URL, reply=response(201))
        self.assertEqual(self.answered(None, "r2"), ("run 2", 201))

    def test_removed(self) -> None:
        """A worker alone may remove a route, and register another answer."""
        route_id = self.all[0].route(URL, reply=response(200))
        self.workers[0].sends(inbound.RouteUnregister(route_id))
        self.playbook.take()
        self.all[0].route(URL, reply=response(201))
        self.assertEqual(self.answered(), ("run 2", 201))


class CountTests(RunRoutesCase):
    """What is counted, is counted once for the run."""

    def test_times(self) -> None:
        """A route with ``times`` is used up for all workers, also for one that comes later."""
        for test in self.all[:2]:
            test.route(URL, reply=response(200), times=2)
        given = [self.answered(None, f"r{number}") for number in range(3)]
        self.assertEqual([each is not None for each in given], [True, True, False])
        self.all[2].route(URL, reply=response(200), times=2)
        self.assertIsNone(self.answered(None, "r3"))
        self.all[2].route(URL, reply=response(201))
        self.assertEqual(self.answered(None, "r4"), ("run 4", 201))

    def test_sequence(self) -> None:
        """The copies go through a sequence together."""
        steps = [Fulfill(response(status)) for status in (500, 200)]
        for test in self.all:
            test.route(URL, answers=steps)
        first = self.answered()
        self.workers[0].dies()
        self.playbook.take()
        second = self.answered(None, "r2")
        self.assertEqual([first, second], [("run 2", 500), ("run 3", 200)])


class OtherAnswerTests(RunRoutesCase):
    """A worker that registers another answer gets an error with both places."""

    def test_status_and_body(self) -> None:
        first = inbound.RouteRegister(
            "first", "run 2", glob(URL), place="a.py:1", options=options(Fulfill(response(200)))
        )
        self.workers[0].sends(first)
        text = self.refused(
            self.all[1], place="b.py:2", options=options(Fulfill(response(201, b"other")))
        )
        self.assertIn("worker 2 at a.py:1", text)
        self.assertIn("worker 3 at b.py:2", text)
        self.assertIn("What differs: status, headers, body.", text)
        self.assertEqual(self.answered(), ("run 2", 200))

    def test_kind_of_answer(self) -> None:
        """A function is no fixed answer, and functions of two places are two."""
        self.all[0].route(URL)
        self.assertIn(
            "What differs: ", self.refused(self.all[1], options=options(Fulfill(response(200))))
        )
        self.assertIn("What differs: handler.", self.refused(self.all[1], place="b.py:2"))

    def test_times(self) -> None:
        self.all[0].route(URL, reply=response(200))
        text = self.refused(self.all[1], options=options(Fulfill(response(200))), times=1)
        self.assertIn("What differs: times.", text)

    def test_second_of_one_worker(self) -> None:
        """A worker may register two answers; the second ones of the workers are compared."""
        for test in self.all[:2]:
            test.route(URL, reply=response(200))
            test.route(URL, reply=response(201))
        self.assertEqual(self.answered(), ("run 2", 201))
        self.all[2].route(URL, reply=response(200))
        self.assertIn("status", self.refused(self.all[2], options=options(Fulfill(response(200)))))

    def test_other_kind(self) -> None:
        """A route for WebSockets is another route."""
        self.all[0].route(URL, reply=response(200))
        self.all[1].route(URL, kind="websocket")
        self.assertEqual(self.answered(), ("run 2", 200))
