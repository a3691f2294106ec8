"""Fetches of handlers: each is answered once, whatever becomes of the request."""

from attrs import evolve
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    ANY,
    claims,
    failure,
    fetch,
    fetched,
    fulfill,
    predicate,
    response,
    start,
    text,
)
from tests.support.playbook import SETTINGS, Peer, Playbook
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.answer import Fetch
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import (
    REQUEST_SETTLED,
    SerializedError,
    SerializedResponse,
)


def done(
    peer: Peer, fetch_id: str, answer: SerializedResponse | SerializedError, request_id: str = "r1"
) -> Send:
    if isinstance(answer, SerializedError):
        message = outbound.FetchDone(request_id, fetch_id, ok=False, error=answer)
    else:
        message = outbound.FetchDone(request_id, fetch_id, ok=True, response=answer)
    return peer.gets(message)


def fetches_done(effects: Effects) -> list[str]:
    return [
        effect.message.fetch_id
        for effect in effects
        if isinstance(effect, Send) and isinstance(effect.message, outbound.FetchDone)
    ]


class FetchTests(SynchronousTestCase):
    """One matched request."""

    def setUp(self) -> None:
        self.playbook = Playbook(self, evolve(SETTINGS, handler_body_bytes=10))
        self.agent, self.worker = self.playbook.agent(), self.playbook.worker()
        self.test = self.worker.test()
        self.test.route("**")
        self.before = self.playbook.tables()
        self.agent.sends(start())
        self.playbook.take()

    def asks(self, fetch_id: str = "f1") -> None:
        self.worker.sends(fetch("r1", fetch_id))
        self.playbook.expect(self.agent.gets(outbound.DecisionFetch("r1", fetch_id)))

    def test_sequence(self) -> None:
        """Fetches interleave; each answer goes to its asker, then the handler decides."""
        matched = self.playbook.tables()
        self.asks("f1")
        self.asks("f2")
        self.agent.sends(fetched("r1", "f2", response(404)))
        self.playbook.expect(done(self.worker, "f2", response(404)))
        self.asks("f3")
        self.agent.sends(fetched("r1", "f1", failure()))
        self.playbook.expect(done(self.worker, "f1", failure()))
        self.agent.sends(fetched("r1", "f3"))
        self.playbook.expect(done(self.worker, "f3", response()))
        self.assertEqual(self.playbook.tables(), matched)
        self.worker.sends(fulfill())
        self.playbook.take()
        self.assertEqual(self.playbook.tables(), self.before)

    def test_options(self) -> None:
        """Overrides and limits reach the agent."""
        overrides = SerializedOverrides(headers={}, headers_list=[("A", "b"), ("a", "c")])
        self.worker.sends(inbound.HandlerResult("r1", Fetch("f1", overrides, 0, 3)))
        question = outbound.DecisionFetch(
            "r1", "f1", SerializedOverrides(headers={"a": "b, c"}), 0, 3
        )
        self.playbook.expect(self.agent.gets(question))

    def test_twice_the_same_id(self) -> None:
        """A fetch id that is in use is not asked for again; the first one is answered."""
        self.asks()
        self.worker.sends(fetch())
        self.playbook.expect()
        self.agent.sends(fetched())
        self.playbook.expect(done(self.worker, "f1", response()))
        self.agent.sends(fetched())
        self.playbook.expect()

    def test_after_the_decision(self) -> None:
        """A fetch for a settled request is refused at once."""
        self.worker.sends(fulfill())
        self.playbook.take()
        self.worker.sends(fetch())
        self.playbook.expect(
            done(
                self.worker,
                "f1",
                SerializedError("Error", text("already settled"), code=REQUEST_SETTLED),
            )
        )

    def test_answer_after_the_decision(self) -> None:
        """Who decides while a fetch is out still gets its answer."""
        self.asks()
        self.worker.sends(fulfill())
        self.playbook.take()
        self.agent.sends(fetched())
        self.playbook.expect(done(self.worker, "f1", response()))
        self.assertEqual(self.playbook.tables(), self.before)

    def test_neither_response_nor_error(self) -> None:
        """An agent that reports nothing at all is answered for."""
        for number, ok in enumerate((True, False)):
            self.asks(f"f{number}")
            self.agent.sends(inbound.FetchResult("r1", f"f{number}", ok))
            self.playbook.expect(
                done(self.worker, f"f{number}", SerializedError("Error", text("neither")))
            )

    def test_failure_with_a_response(self) -> None:
        """A fetch that the agent says has failed has no response."""
        self.asks()
        self.agent.sends(
            inbound.FetchResult("r1", "f1", ok=False, response=response(), error=failure())
        )
        self.playbook.expect(done(self.worker, "f1", failure()))

    def test_too_large(self) -> None:
        """A body over the limit is not handed to the test; the text names the option."""
        for size, answer in (
            (10, response(200, b"x" * 10)),
            (11, SerializedError("Error", text("11 bytes", "10 bytes", "--handler-body-bytes"))),
        ):
            self.asks()
            self.agent.sends(fetched("r1", "f1", response(200, b"x" * size)))
            self.playbook.expect(done(self.worker, "f1", answer))

    def test_cancelled(self) -> None:
        """When the application gives up, open fetches are answered."""
        self.asks("f1")
        self.asks("f2")
        self.agent.sends(inbound.RequestCancel("r1"))
        self.assertEqual(fetches_done(self.playbook.take()), ["f1", "f2"])
        self.agent.sends(fetched())
        self.playbook.expect()
        self.assertEqual(self.playbook.tables(), self.before)

    def test_cancelled_says_so(self) -> None:
        """The owner is told by a code that its fetch ended with the request."""
        self.asks("f1")
        self.agent.sends(inbound.RequestCancel("r1", "timed out"))
        answers = [
            effect.message.error
            for effect in self.playbook.take()
            if isinstance(effect, Send) and isinstance(effect.message, outbound.FetchDone)
        ]
        self.assertEqual(answers, [SerializedError("Error", "timed out", code=REQUEST_SETTLED)])

    def test_test_ends(self) -> None:
        """When the test ends, open fetches are answered without waiting for the upstream."""
        self.asks("f1")
        self.test.ends()
        self.assertEqual(fetches_done(self.playbook.take()), ["f1"])
        self.agent.sends(fetched())
        self.playbook.expect()

    def test_agent_lost(self) -> None:
        """When the agent is lost, open fetches are answered, decided or not."""
        self.asks("f1")
        self.agent.sends(start("r2"))
        self.playbook.take()
        self.worker.sends(claims("r2", "buys", "buys#1"))
        self.playbook.take()
        self.worker.sends(fetch("r2", "f2"))
        self.playbook.take()
        self.worker.sends(fulfill("r2"))
        self.playbook.take()
        self.agent.dies()
        self.assertEqual(fetches_done(self.playbook.take()), ["f1", "f2"])
        self.assertNotIn("[agent", str(self.playbook.tables()))

    def test_invalid_answer(self) -> None:
        """An answer that is no valid message is answered for, and the agent is told."""
        self.asks()
        self.agent.sends_text('{"type":"fetch:result","requestId":"r1","fetchId":"f1","ok":7}')
        self.playbook.expect(
            done(self.worker, "f1", SerializedError("Error", text("$.ok"))),
            self.agent.gets(outbound.ProxyError("invalid_message", text("$.ok"))),
        )
        self.agent.sends(fetched())
        self.playbook.expect()

    def test_somebody_elses(self) -> None:
        """Nobody fetches for, nor answers, what is not theirs."""
        stranger, other = self.playbook.worker("9"), self.playbook.agent("other")
        stranger.sends(fetch())
        self.playbook.expect(done(stranger, "f1", SerializedError("Error", ANY)))
        self.asks()
        other.sends(fetched())
        self.playbook.expect()
        self.agent.sends(fetched())
        self.playbook.expect(done(self.worker, "f1", response()))

    def test_nothing_while_undecided(self) -> None:
        """Before a request has an owner nobody fetches for it."""
        self.test.ends()
        self.playbook.take()
        self.worker.test("late").route(predicate())
        self.agent.sends(start("r2"))
        self.playbook.take()
        self.worker.sends(inbound.HandlerResult("r2", Fetch("f1", UNSET)))
        self.playbook.expect(done(self.worker, "f1", SerializedError("Error", ANY), "r2"))
