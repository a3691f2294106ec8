"""Nobody waits for ever: claims that are not answered, and owners that fall silent."""

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import claims, fulfill, predicate, report, start, text
from tests.support.playbook import EPOCH_MS, SETTINGS, Playbook, RegisteredTest
from trafficmock.core.effects import Effects, Send
from trafficmock.records import Owner, RequestFailed
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.answer import Continue
from trafficmock.wire.payloads.serialized_response import SerializedError

QUIET = evolve(SETTINGS, claim_timeout=5.0, heartbeat=1000.0, idle_timeout=4000.0)
OWNER = Owner("buys", "buys#1", "buys", "buys.spec.ts")


class TimeoutTests(SynchronousTestCase):
    """One agent, one worker with one test; heartbeats stay out of the picture."""

    def setUp(self) -> None:
        self.playbook = Playbook(self, QUIET)
        self.agent, self.worker = self.playbook.agent(), self.playbook.worker()
        self.test = self.worker.test()
        self.before = self.playbook.tables()

    def failed(self, owner: Owner | None, message: str) -> Effects:
        """Write what a timeout leads to."""
        error = SerializedError("Error", message, code="claim_timeout")
        return [
            RequestFailed("r1", owner, "claim_timeout", message, None),
            self.agent.gets(outbound.DecisionError("r1", "claim_timeout", message)),
            self.worker.gets(inbound.RequestResponse("r1", ok=False, error=error)),
        ]

    def routes_left(self) -> None:
        """Check that only the test and its routes are left."""
        self.worker.sends(inbound.RouteUnregister(test_id="buys"))
        self.playbook.take()
        self.assertEqual(self.playbook.tables(), self.before)


class ClaimTimeoutTests(TimeoutTests):
    """A round ends when its time is up."""

    def test_nobody_answers(self) -> None:
        """The request fails; the text names the test, its file, its worker and the option."""
        self.test.route(predicate())
        self.agent.sends(start())
        self.playbook.take()
        self.playbook.wait(4.999)
        self.playbook.expect()
        self.playbook.wait(0.001)
        message = text(
            "5000 ms", "GET http://h.test/a", '"buys"', "buys.spec.ts", "worker 0", "--cl"
        )
        self.playbook.expect(*self.failed(None, message))
        self.worker.sends(claims("r1", "buys", "buys#1"))
        self.playbook.expect()
        self.routes_left()

    def test_no_file(self) -> None:
        """A test that is in no file is named by its title and worker."""
        self.worker.sends(inbound.TestRegister("t", "by hand", "", "0"))
        self.playbook.take()
        RegisteredTest(self.worker, "t").route(predicate())
        self.agent.sends(start())
        self.playbook.take()
        self.playbook.wait(5)
        failed = next(each for each in self.playbook.take() if isinstance(each, RequestFailed))
        self.assertIn('"by hand" (worker 0)', failed.message)

    def test_one_of_two_answers(self) -> None:
        """Only who did not answer is named."""
        self.test.route(predicate())
        self.worker.test("sells").route(predicate())
        self.agent.sends(start())
        self.playbook.take()
        self.worker.sends(claims("r1", "buys", "buys#1"))
        self.playbook.expect()
        self.playbook.wait(5)
        failed = self.playbook.take()[0]
        assert isinstance(failed, RequestFailed)
        self.assertIn('"sells"', failed.message)
        self.assertNotIn('"buys"', failed.message)

    def test_each_round_has_its_own_time(self) -> None:
        """Rounds that began later end later."""
        self.test.route(predicate())
        for request_id in ("r1", "r2", "r3"):
            self.agent.sends(start(request_id))
            self.playbook.take()
            self.playbook.wait(1)
        ended: list[tuple[float, str]] = []
        for _ in range(3):
            self.playbook.wait(2 if not ended else 1)
            failed = self.playbook.take()[0]
            assert isinstance(failed, RequestFailed)
            ended.append((self.playbook.seconds - 1000, failed.request_id))
        self.assertEqual(ended, [(5, "r1"), (6, "r2"), (7, "r3")])
        self.routes_left()


class SilentOwnerTests(TimeoutTests):
    """A match without a question; other silences are in :mod:`tests.core.liveness`."""

    def setUp(self) -> None:
        super().setUp()
        self.test.route("**")
        self.agent.sends(start())
        self.playbook.take()

    def pinged(self, seconds: float) -> Send:
        return self.worker.gets(inbound.Ping(EPOCH_MS + round(seconds * 1000)))

    def tick(self, seconds: float) -> None:
        self.playbook.tick_at(1000 + seconds)

    def test_silence(self) -> None:
        """It is pinged at half time; still silent at the end, it loses the request."""
        self.tick(2.499)
        self.playbook.expect()
        self.tick(2.5)
        self.playbook.expect(self.pinged(2.5))
        self.tick(4.999)
        self.playbook.expect()
        self.tick(5)
        message = text("5000 ms", '"buys"', "no sign of life", "--claim-timeout-ms")
        self.playbook.expect(*self.failed(OWNER, message))
        self.worker.sends(fulfill())
        self.playbook.expect()
        self.routes_left()

    def test_wakes_up_by_itself(self) -> None:
        """The core asks for the wake-ups that this takes."""
        self.playbook.muted.add(self.worker.id)
        self.playbook.wait(5)
        self.playbook.expect(*self.failed(OWNER, text("no sign of life")))

    def test_answered_ping(self) -> None:
        """A worker that answers pings may take its time."""
        self.playbook.wait(500)
        self.playbook.expect()
        self.worker.sends(fulfill())
        self.assertEqual(len(self.playbook.take()), 3)
        self.routes_left()

    def test_any_sign_of_life(self) -> None:
        """Whatever the worker says begins its time anew, valid or not."""
        self.tick(1)
        self.playbook.expect()
        self.worker.sends_text("nonsense")
        self.playbook.take()
        self.tick(3.499)
        self.playbook.expect()
        self.tick(3.5)
        self.playbook.expect(self.pinged(3.5))

    def test_everybody_was_held_up(self) -> None:
        """After a late wake-up the owner still has half the time to answer its ping."""
        self.tick(60)
        self.playbook.expect(self.pinged(60))
        self.tick(60.1)
        self.playbook.expect()
        self.worker.sends(inbound.Pong(0))
        self.tick(62.5)
        self.playbook.expect()

    def test_late_end(self) -> None:
        """An end that comes late waits once more for what the owner may have said meanwhile."""
        self.tick(2.5)
        self.playbook.expect(self.pinged(2.5))
        self.tick(30)
        self.playbook.expect()
        self.tick(30.499)
        self.playbook.expect()
        self.tick(45)
        self.playbook.expect(*self.failed(OWNER, text("no sign of life")))

    def test_late_answer(self) -> None:
        """An owner whose answer was unread until then is not given up."""
        self.tick(2.5)
        self.playbook.expect(self.pinged(2.5))
        self.tick(30)
        self.worker.sends(inbound.Pong(0))
        self.tick(30.5)
        self.playbook.expect()
        self.tick(32.5)
        self.playbook.expect(self.pinged(32.5))

    def test_one_ping_for_several(self) -> None:
        """A worker with several matches is pinged once."""
        self.worker.sends(fulfill())
        self.playbook.take()
        self.worker.sends(inbound.RouteUnregister("buys#1"))
        self.playbook.take()
        tests = [self.worker.test(title) for title in ("one", "two")]
        for number, test in enumerate(tests):
            test.route(f"http://{test.id}.test/")
            self.agent.sends(start(f"r{number}", f"http://{test.id}.test/"))
            self.playbook.take()
        self.tick(2.5)
        self.playbook.expect(self.pinged(2.5))

    def test_settled_in_time(self) -> None:
        """A settled request is watched no more."""
        self.worker.sends(fulfill())
        self.playbook.take()
        self.playbook.muted.add(self.worker.id)
        self.playbook.wait(20)
        self.playbook.expect()

    def test_two_agents(self) -> None:
        """One silent worker loses the requests of all agents, each in its time."""
        other = self.playbook.worker("1", features=("warnings",))
        other.test("sells").route("**/sold")
        self.playbook.seconds += 1
        for number in (7, 8):
            self.agent.sends(start(f"r{number}", "http://h.test/sold"))
            self.playbook.take()
        self.playbook.muted |= {self.worker.id, other.id}
        self.playbook.wait(4)
        failed = self.playbook.with_route(self.failed(OWNER, text("no sign"))[0])
        self.assertEqual(self.playbook.take()[0], failed)
        self.playbook.wait(1)
        lost = [each.request_id for each in self.playbook.take() if isinstance(each, RequestFailed)]
        self.assertEqual(lost, ["r7", "r8"])

    def test_continued(self) -> None:
        """A request that was sent on is not watched, however long its report takes."""
        self.worker.sends(inbound.HandlerResult("r1", Continue()))
        self.playbook.take()
        self.playbook.wait(900)
        self.playbook.expect()
        self.agent.sends(report())
        self.assertEqual(len(self.playbook.take()), 2)
