"""The texts about requests that lost the context of their test."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, structs

from tests.core.ownership.context_case import A, ContextCase
from tests.support.builders import response, start
from trafficmock.core.isolation.lost_contexts import explain
from trafficmock.core.state.peers import Agent
from trafficmock.records import LostContext, RequestFailed, RequestSeen
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.request_origin import InboundRequest, RequestOrigin

BUY = InboundRequest("POST", "/buy?card=4242", 1_700_000_000_000)
THREAD = RequestOrigin(
    kind="thread",
    name="analytics-worker",
    started="shop/analytics.py:12 in <module>",
    at_import=True,
    library="urllib3",
    place="shop/analytics.py:31 in flush",
    carried=BUY,
)


def agent(kind: str = "python", features: tuple[str, ...] = ("context",)) -> Agent:
    return Agent(
        id="1", client_id="shop", features=frozenset(features), last_heard=0, kind=kind,
        connected_at=0, pid=4711,
    )  # fmt: skip


def told(origin: RequestOrigin | Any = UNSET, **of_agent: Any) -> LostContext:
    found = explain(agent(**of_agent), origin)
    assert found is not None
    return found


class TextTests(ContextCase):
    """What is said about each origin."""

    def test_thread(self) -> None:
        """The last request with a context, the thread, its start and the library are named."""
        lost = told(THREAD)
        self.assertRegex(
            lost.how,
            r"^A context came in last at 22:13:20 UTC to POST /buy in process shop 4711\. "
            "This one left from the thread analytics-worker, started at import at "
            r"shop/analytics.py:12 in <module>, by urllib3 at shop/analytics.py:31 in flush\.$",
        )
        self.assertIn('trafficmock_shared(scope="run")', lost.remedy)

    def test_inbound(self) -> None:
        """A request that came in without a context needs headers, and its time may be unknown."""
        origin = RequestOrigin(kind="request", inbound=InboundRequest("GET", "/cart", 0))
        lost = told(origin)
        self.assertTrue(lost.how.startswith("A request to GET /cart came into process shop 4711"))
        self.assertIn("trafficmock.headers", lost.remedy)

    def test_others(self) -> None:
        """Each kind says what to do about it, an unknown one, too."""
        for kind, name, source, remedy in (
            (
                "woken",
                UNSET,
                "from work that requests of other tests have woken",
                "such a loop",
            ),
            ("handed-over", UNSET, "that had handed over a result of", "bind each job"),
            ("unhooked", "fastq", "a copy of fastq that cannot be changed", "of the bundle"),
            ("expired", UNSET, "and does not count any more", "TRAFFICMOCK_CONTEXT_MS"),
            ("loop", UNSET, "everyone, begun by a request at", "jobs from queue.Queue"),
            ("pool", "Pool-1", "the pool's thread Pool-1", "Hand the job over"),
            ("queue", "celery", "from a job of celery", "Attach the process that enqueues"),
            ("timer", UNSET, "from a timer.", "A timer or a schedule"),
            ("task", "Task-3 (poll)", "from the task Task-3 (poll)", "Start the task while"),
            ("batch", "dataloader", "a batch of dataloader, whose items", "Make a batch"),
            ("message", "redis", "from a message of redis", "has no context, whoever"),
            ("connection", "pg", "an event of a connection of pg", "by AsyncResource.bind"),
            ("worker", "worker thread 1", "left from the worker thread 1", "from the main thread"),
            ("receiver", "SQS", "a thread that receives messages of SQS", "not by its index"),
            ("main", UNSET, "from the main thread", "A script or a loop"),
            ("new", UNSET, "from its code", "AsyncResource.bind"),
        ):
            lost = told(RequestOrigin(kind=kind, name=name, inbound=BUY))
            self.assertIn(source, lost.how)
            self.assertIn(remedy, lost.remedy)

    def test_agents(self) -> None:
        """Through the forward proxy headers are missing; the npm agent carries none."""
        self.assertIn("Forward one of the headers baggage", told(kind="proxy").remedy)
        self.assertIn("npm package's agent", told(features=()).remedy)
        self.assertIsNone(explain(agent(), UNSET))
        unknown = told(features=("context", "origins"))
        self.assertIn("From where is not known", unknown.how)
        self.assertIn("sent again while a test runs", unknown.remedy)

    @given(st.text(), st.text(), st.integers(-(2**63), 2**63 - 1))
    def test_any_text(self, name: str, path: str, at: int) -> None:
        """Nothing of the application breaks the line or its length."""
        came = InboundRequest(name, path, at)
        for kind in ("thread", "expired", "loop", "request"):
            origin = RequestOrigin(
                kind, name, name, library=name, place=name, inbound=came, carried=came
            )
            how = told(origin).how
            self.assertTrue(how.isprintable())
            self.assertLess(len(how), 2500)


class PlaceTests(ContextCase):
    """Where the texts are shown."""

    def seen(self, **changes: Any) -> list[Any]:
        self.agent.sends(structs.replace(start("r1"), origin=THREAD, **changes))
        return [*self.playbook.take()]

    def test_history_and_errors(self) -> None:
        """The history and the error of an ambiguous request have them."""
        self.a.route()
        self.b.route()
        seen, *effects = self.seen()
        assert isinstance(seen, RequestSeen) and seen.lost is not None
        self.assertIn("analytics-worker", seen.lost.how)
        (failed,) = [each for each in effects if isinstance(each, RequestFailed)]
        self.assertIn(seen.lost.text, failed.message)

    def test_required(self) -> None:
        """The worker is told, for tests that require contexts."""
        worker = self.playbook.worker("7", features=["chain", "context", "subscribe"])
        self.registered(worker, "lends", "e" * 32).route(reply=response(200))
        replied = [
            each.message
            for each in self.seen()
            if isinstance(getattr(each, "message", None), outbound.RequestReplied)
        ]
        self.assertIn("analytics-worker", replied[0].lost)

    def test_not_lost(self) -> None:
        """A request with a context is not, nor is one while no test has a context."""
        (seen, *_) = self.seen(context=A)
        self.assertIsNone(seen.lost)
        for test in (self.a, self.b):
            test.worker.sends(inbound.TestUnregister(test.id))
            self.playbook.take()
        self.agent.sends(structs.replace(start("r2"), origin=THREAD))
        self.assertIsNone(self.playbook.take()[0].lost)  # type: ignore[union-attr]
