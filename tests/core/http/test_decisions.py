"""What an owner decides: fulfil, continue, abort; and what its application cancels."""

from msgspec import UNSET, Raw, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    abort,
    claims,
    continue_,
    failure,
    fall_back,
    fulfill,
    predicate,
    report,
    response,
    start,
    text,
)
from tests.support.playbook import Playbook, to
from trafficmock import records
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import SerializedError

OWNER = records.Owner("buys", "buys#1", "buys", "buys.spec.ts")


class MatchedTests(SynchronousTestCase):
    """A request that is matched to a test; another worker watches."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent = self.playbook.agent()
        self.worker, self.watcher = self.playbook.worker("0"), self.playbook.worker("1")
        self.everybody = to(self.worker, self.watcher)
        self.test = self.worker.test("buys")
        self.watcher.test("watches")
        self.test.route("**")
        self.before = self.playbook.tables()
        self.agent.sends(start())
        self.playbook.take()

    def news(self, answer: SerializedError | None = None) -> Send:
        return Send(self.everybody, report("r1", answer))

    def unchanged(self) -> None:
        self.assertEqual(self.playbook.tables(), self.before)

    def test_fulfill(self) -> None:
        """The answer goes to the application, then to all who saw the request."""
        answer = response(201, b"made", etag='"1"')
        self.worker.sends(fulfill("r1", answer))
        self.playbook.expect(
            records.RequestFulfilled("r1", OWNER, answer),
            self.agent.gets(outbound.DecisionFulfill("r1", answer)),
            Send(self.everybody, report("r1", answer)),
        )
        self.unchanged()
        self.agent.sends(report("r1"))
        self.playbook.expect()

    def test_length_without_a_body(self) -> None:
        """A length is left out where a client would wait for a body, and stays for HEAD."""
        self.worker.sends(fulfill())
        self.playbook.take()
        empty = response(200, b"", **{"content-length": "5"})
        for method, headers in (("GET", {}), ("HEAD", {"content-length": "5"})):
            message = start(method)
            asked = structs.replace(message.request, method=method)
            self.agent.sends(structs.replace(message, request=asked))
            self.playbook.take()
            self.worker.sends(fulfill(method, empty))
            recorded, decided, _ = self.playbook.take()
            assert isinstance(recorded, records.RequestFulfilled)
            assert isinstance(decided, Send)
            assert isinstance(decided.message, outbound.DecisionFulfill)
            for answer in (recorded.response, decided.message.response):
                self.assertEqual(answer.headers, headers)

    def test_continue(self) -> None:
        """It goes on unchanged; the report of what came is recorded and passed on."""
        self.worker.sends(continue_())
        self.playbook.expect(
            records.RequestContinued("r1", OWNER, None),
            self.agent.gets(outbound.DecisionContinue("r1")),
        )
        answer = response(200, b"real", url="x")
        self.agent.sends(report("r1", answer))
        self.playbook.expect(
            records.ResponseReported("r1", answer, None), Send(self.everybody, report("r1", answer))
        )
        self.unchanged()
        self.agent.sends(report("r1", answer))
        self.playbook.expect()

    def test_overrides(self) -> None:
        """Overrides reach the agent and the record as they are, also none of them."""
        body = Raw(b'"aGk="')
        for overrides in (
            SerializedOverrides(),
            SerializedOverrides("http://h.test/b", "PUT", {"a": "b"}, body),
        ):
            self.worker.sends(continue_("r1", overrides))
            self.playbook.expect(
                records.RequestContinued("r1", OWNER, overrides),
                self.agent.gets(outbound.DecisionContinue("r1", overrides)),
            )
            self.agent.sends(report())
            self.playbook.take()
            self.agent.sends(start())
            self.playbook.take()

    def test_upstream_failure(self) -> None:
        """A failure after continue is recorded and passed on."""
        self.worker.sends(continue_())
        self.playbook.take()
        self.agent.sends(report("r1", failure()))
        self.playbook.expect(
            records.ResponseReported("r1", None, failure()),
            Send(self.everybody, report("r1", failure())),
        )
        self.unchanged()

    def test_abort(self) -> None:
        """The application's call fails; all who saw the request learn that there is no answer."""
        self.worker.sends(abort("r1", "timedout"))
        error = SerializedError("AbortError", "timedout", code="timedout")
        self.playbook.expect(
            records.RequestAborted("r1", OWNER, "timedout", "timedout"),
            self.agent.gets(outbound.DecisionAbort("r1", "timedout")),
            self.news(error),
        )
        self.unchanged()

    def test_handler_throws(self) -> None:
        """What a handler threw goes along to the application."""
        self.worker.sends(abort("r1", "failed", "boom"))
        error = SerializedError("AbortError", "boom", code="failed")
        self.playbook.expect(
            records.RequestAborted("r1", OWNER, "failed", "boom"),
            self.agent.gets(outbound.DecisionAbort("r1", "failed", "boom")),
            self.news(error),
        )

    def test_fallback_needs_the_feature(self) -> None:
        """A worker that did not announce ``chain`` may not fall back, and is told."""
        self.worker.sends(fall_back())
        message = text("chain")
        error = SerializedError("Error", message, code="handler_failed")
        self.playbook.expect(
            records.RequestFailed("r1", OWNER, "handler_failed", message, None),
            self.agent.gets(outbound.DecisionError("r1", "handler_failed", message)),
            self.news(error),
            self.worker.gets(outbound.ProxyError("handler_failed", message, "buys")),
        )
        self.unchanged()

    def test_late_results(self) -> None:
        """After the first decision no other counts."""
        self.worker.sends(fulfill())
        self.playbook.take()
        for message in (fulfill(), continue_(), abort(), fall_back()):
            self.worker.sends(message)
            self.playbook.expect()
        self.unchanged()

    def test_cancel(self) -> None:
        """The application gives up: its owner stays on record, and all learn of it."""
        self.agent.sends(inbound.RequestCancel("r1", "closed the tab"))
        error = SerializedError("AbortError", "closed the tab", code="aborted")
        self.playbook.expect(
            records.RequestAborted("r1", OWNER, "aborted", "closed the tab"), self.news(error)
        )
        self.unchanged()
        self.worker.sends(fulfill())
        self.playbook.expect()

    def test_cancel_without_reason(self) -> None:
        """Without a reason one is made up."""
        self.agent.sends(inbound.RequestCancel("r1"))
        message = text("gave the request up")
        error = SerializedError("AbortError", message, code="aborted")
        self.playbook.expect(
            records.RequestAborted("r1", OWNER, "aborted", message), self.news(error)
        )

    def test_cancel_on_its_way(self) -> None:
        """Giving up what was sent on ends the wait for its report."""
        self.worker.sends(continue_())
        self.playbook.take()
        self.agent.sends(inbound.RequestCancel("r1", "enough"))
        error = SerializedError("AbortError", "enough", code="aborted")
        self.playbook.expect(records.ResponseReported("r1", None, error), self.news(error))
        self.unchanged()

    def test_cancel_of_nothing(self) -> None:
        """Giving up what is settled, or was never there, is no matter."""
        self.worker.sends(fulfill())
        self.playbook.take()
        for request_id in ("r1", "unknown"):
            self.agent.sends(inbound.RequestCancel(request_id))
            self.playbook.expect()

    def test_cancel_during_the_round(self) -> None:
        """Giving up while tests are asked ends the round; late answers are no matter."""
        self.worker.sends(fulfill())
        self.playbook.take()
        self.test.route(predicate())
        self.worker.sends(inbound.RouteUnregister("buys#1"))
        self.playbook.take()
        before = self.playbook.tables()
        self.agent.sends(start("r2"))
        self.playbook.take()
        self.agent.sends(inbound.RequestCancel("r2", "enough"))
        aborted = self.playbook.take()[0]
        self.assertEqual(aborted, records.RequestAborted("r2", None, "aborted", "enough"))
        self.worker.sends(claims("r2", "buys", "buys#2"))
        self.playbook.expect()
        self.assertEqual(self.playbook.tables(), before)


class HeadersListTests(SynchronousTestCase):
    """Ordered headers go to agents that know them; others get a map."""

    def cast(self, *features: str) -> None:
        self.playbook = Playbook(self)
        self.agent, self.worker = self.playbook.agent(features=features), self.playbook.worker()
        self.worker.test().route("**")
        self.agent.sends(start())
        self.playbook.take()

    def decision(self) -> outbound.DecisionFulfill | outbound.DecisionContinue:
        sends = [effect for effect in self.playbook.take() if isinstance(effect, Send)]
        message = sends[0].message
        assert isinstance(message, outbound.DecisionFulfill | outbound.DecisionContinue)
        return message

    def fulfilled(self, **headers: object) -> Effects:
        answer = structs.replace(response(), **headers)
        self.worker.sends(fulfill("r1", answer))
        message = self.decision()
        assert isinstance(message, outbound.DecisionFulfill)
        return [message.response.headers, message.response.headers_list]  # type: ignore[list-item]

    PAIRS = (("Set-Cookie", "a=1"), ("X", "y"), ("set-cookie", "b=2"))

    def test_list_for_those_who_know_it(self) -> None:
        """An agent with ``headers-list`` gets the list."""
        self.cast("headers-list")
        pairs = list(self.PAIRS)
        self.assertEqual(self.fulfilled(headers_list=pairs), [{}, pairs])

    def test_map_for_others(self) -> None:
        """Another agent gets the list as a map, repeats joined, which wins over the map sent."""
        self.cast()
        headers = {"set-cookie": "a=1, b=2", "x": "y"}
        got = self.fulfilled(headers_list=list(self.PAIRS), headers={"x": "z"})
        self.assertEqual(got, [headers, UNSET])

    def test_cookies_in_lines(self) -> None:
        """Cookies joined by line breaks are split for the one and joined for the other."""
        self.cast("headers-list")
        sent = {"X": "y", "Set-Cookie": "a=1\nb=2"}
        joined = {"X": "y", "Set-Cookie": "a=1, b=2"}
        split = [("X", "y"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
        self.assertEqual(self.fulfilled(headers=sent), [joined, split])
        self.cast()
        lowered = {"x": "y", "set-cookie": "a=1, b=2"}
        self.assertEqual(self.fulfilled(headers=sent), [lowered, UNSET])

    def test_overrides(self) -> None:
        """The same holds for the headers that a handler overrides."""
        overrides = SerializedOverrides(headers={"x": "z"}, headers_list=list(self.PAIRS))
        for features, expected in (
            (("headers-list",), overrides),
            ((), SerializedOverrides(headers={"set-cookie": "a=1, b=2", "x": "y"})),
        ):
            self.cast(*features)
            self.worker.sends(continue_("r1", overrides))
            message = self.decision()
            assert isinstance(message, outbound.DecisionContinue)
            self.assertEqual(message.overrides, expected)
