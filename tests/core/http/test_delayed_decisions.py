"""Decisions with a delay: sent when it is over, unless the request is settled before."""

from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

from msgspec import UNSET, structs

from tests.core.answers.reply_case import ANSWER, ReplyCase
from tests.support.builders import response
from tests.support.playbook import SETTINGS
from trafficmock import records
from trafficmock.core.deadlines import Deadlines
from trafficmock.core.effects import EffectList, Effects, Moment, Send
from trafficmock.core.planned_steps import PlannedSteps
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.answer import Abort, Continue, Fallback, Fulfill

SECONDS = 4.0
DELAY = int(SECONDS * 1000)


class Id(str):
    """An id of a request of which a test knows whether it is kept."""

    __slots__ = ("__weakref__",)


def _nothing(_: EffectList) -> None:
    """Stand for a step that is never taken."""


class DelayCase(ReplyCase):
    """An agent, and a test that decides with a delay."""

    def does(self, action: Any, run_id: str = "1", delay_ms: int = DELAY) -> Effects:
        """Let the handler of the request end with an action."""
        if isinstance(action, Fulfill | Continue | Abort):
            action = structs.replace(action, delay_ms=delay_ms)
        self.worker.sends(inbound.HandlerResult("r1", action, run_id))
        return self.playbook.take()

    def runs_handler(self) -> None:
        self.test.route()
        self.asks()

    def later(self, seconds: float = SECONDS) -> Effects:
        """Let time pass; give what was recorded and sent to the agent."""
        self.playbook.wait(seconds)
        return [
            effect
            for effect in self.playbook.take()
            if not isinstance(effect, Send)
            or (effect.to == (self.agent.id,) and not isinstance(effect.message, inbound.Ping))
        ]

    def decided(self, effects: Effects) -> Any:
        """Give the one message to the agent."""
        (found,) = (e.message for e in effects if isinstance(e, Send) and e.to == (self.agent.id,))
        return found


class HandlerTests(DelayCase):
    """The decisions of handlers."""

    def test_decisions(self) -> None:
        """Each decision is sent when its delay is over, and not before."""
        self.test.route()
        cases = (
            (Fulfill(response(201)), outbound.DecisionFulfill),
            (Continue(), outbound.DecisionContinue),
            (Abort("timedout"), outbound.DecisionAbort),
        )
        for number, (action, decision) in enumerate(cases, 1):
            self.asks()
            self.assertEqual(self.does(action, str(number)), [])
            self.assertEqual(self.later(SECONDS - 0.5), [])
            self.assertIsInstance(self.decided(self.later(0.5)), decision)
            if decision is outbound.DecisionContinue:
                self.agent.sends(inbound.RequestResponse("r1", ok=True, response=response()))
                self.playbook.take()

    def test_no_delay(self) -> None:
        """A delay of 0 is none, and a fallback has none."""
        self.test.route()
        self.runs_handler()
        (run,) = self.does(Fallback())
        assert isinstance(run, Send)
        self.assertIsInstance(run.message, outbound.HandlerRun)
        decision = self.decided(self.does(Fulfill(response()), "2", 0))
        self.assertIsInstance(decision, outbound.DecisionFulfill)

    def test_second_result(self) -> None:
        """The first decision counts: a second one of the same run is late."""
        self.runs_handler()
        self.does(Fulfill(response(201)))
        for run_id in ("1", ""):
            self.assertEqual(self.does(Abort("failed"), run_id, 0), [])
        self.assertEqual(self.decided(self.later()).response.status, 201)

    def test_several(self) -> None:
        """The decision with the shorter delay is sent first, whichever was made first."""
        self.test.route()
        self.asks("r1")
        self.asks("r2")
        for run_id, delay_ms in (("1", 2 * DELAY), ("2", DELAY)):
            answer = Fulfill(response(), delay_ms=delay_ms)
            self.worker.sends(inbound.HandlerResult(f"r{run_id}", answer, run_id))
        self.playbook.take()
        self.assertEqual(self.decided(self.later()).request_id, "r2")
        self.assertEqual(self.decided(self.later()).request_id, "r1")

    def test_cancelled(self) -> None:
        """A request that the application gives up meanwhile gets no decision."""
        self.runs_handler()
        self.does(Fulfill(response()))
        self.agent.sends(inbound.RequestCancel("r1"))
        (recorded,) = self.playbook.take()
        self.assertIsInstance(recorded, records.RequestAborted)
        self.assertEqual(self.later(), [])

    def test_many_cancelled(self) -> None:
        """Of requests that were given up, nothing is kept until their delays are over."""
        steps, out, kept = PlannedSteps(Deadlines()), EffectList(Moment(0.0, 0)), WeakSet[Id]()
        first: Any = SimpleNamespace(id=Id("first"))
        steps.plan(first, DELAY, _nothing, out)
        for number in range(100):
            pending: Any = SimpleNamespace(id=Id(number))
            kept.add(pending.id)
            steps.plan(pending, 1000 * DELAY - number, _nothing, out)
            steps.cancel(pending)
        del pending
        self.assertLess(len(kept), 5)
        self.assertTrue(steps.has(first))

    def test_same_id_again(self) -> None:
        """The decision of a cancelled request is not that of a later one with its id."""
        self.test_cancelled()
        self.asks()
        self.does(Fulfill(response()), "2", 2 * DELAY)
        self.assertEqual(self.later(), [])
        self.assertIsInstance(self.decided(self.later()), outbound.DecisionFulfill)

    def test_lost_agent(self) -> None:
        """A request whose agent disconnects meanwhile is settled, once."""
        self.runs_handler()
        self.does(Fulfill(response()))
        self.agent.closes()
        failed = [e for e in self.playbook.take() if isinstance(e, records.RequestFailed)]
        self.assertEqual([each.code for each in failed], ["disconnected"])
        self.assertEqual(self.later(), [])

    def test_lost_worker(self) -> None:
        """A request whose worker disconnects meanwhile fails."""
        self.runs_handler()
        self.does(Fulfill(response()))
        self.worker.closes()
        self.assertEqual(self.decided(self.playbook.take()).code, "disconnected")
        self.assertEqual(self.later(), [])

    def test_end_of_test(self) -> None:
        """A test that ends meanwhile fails, and so does the request."""
        for reply, delay_ms in ((UNSET, UNSET), (ANSWER, DELAY)):
            self.test = self.worker.test("buys")
            self.test.route(reply=reply, delay_ms=delay_ms)
            self.asks()
            if reply is UNSET:
                self.does(Fulfill(response()))
            self.test.ends()
            effects = self.playbook.take()
            self.assertEqual(self.decided(effects).code, "disconnected")
            (error,) = (
                e.message
                for e in effects
                if isinstance(e, Send) and isinstance(e.message, outbound.ProxyError)
            )
            self.assertIn("before the delay of its route", error.message)
            self.assertEqual(self.later(), [])

    def test_removed_route(self) -> None:
        """A decision stays when all handlers are removed: it is made."""
        self.runs_handler()
        self.does(Fulfill(response(201)))
        self.worker.sends(inbound.RouteUnregister(test_id="buys", behavior="default"))
        self.playbook.take()
        self.assertEqual(self.decided(self.later()).response.status, 201)


class ReplyTests(DelayCase):
    """The replies of routes."""

    def test_given_later(self) -> None:
        """The worker is told at once, and the application gets the reply after the delay."""
        self.test.route(reply=ANSWER, delay_ms=DELAY)
        told, *given = self.replied()
        self.assertEqual(self.asks(), [told])
        self.assertEqual(self.later(SECONDS - 0.5), [])
        self.assertEqual(self.later(0.5), given)

    def test_times(self) -> None:
        """A request counts when it comes, so that the next one goes to the next route."""
        self.test.route()
        self.test.route(reply=ANSWER, delay_ms=DELAY, times=1)
        self.assertEqual(self.asks(), [self.replied("buys#2")[0], self.expired("buys#2")])
        self.assertEqual(self.asks("r2"), [self.runs("buys#1", request_id="r2")])

    def test_silent_worker(self) -> None:
        """A worker that is silent during the delay, as at a breakpoint, changes nothing."""
        seconds = 2 * SETTINGS.claim_timeout
        self.test.route(reply=ANSWER, delay_ms=int(seconds * 1000))
        self.asks()
        self.playbook.muted = {self.worker.id}
        self.assertEqual(self.later(seconds), self.replied()[1:])
