"""What no test owns: refused where a run or the service is strict, and listed."""

from typing import Any

from msgspec import structs

from tests.core.isolation.test_lost_contexts import THREAD
from tests.core.strict.case import OF_AGENTS, OF_WORKERS, URL, A, B, StrictCase, messages
from tests.support.builders import start
from tests.support.playbook import SETTINGS, Peer, WorkerPeer
from trafficmock.core.ownership.unowned_refusals import LONGEST_METHOD, MOST_ROWS
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.records import RequestSeen
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import refused_request

NOTHING = read_allow_list([])


class RunCase(StrictCase):
    """What the tests of runs share."""

    def run_strict(self, *allow: str, worker: WorkerPeer | None = None) -> None:
        """Let a worker make its run strict."""
        worker = worker or self.worker
        worker.sends(inbound.RunStrict("q", list(allow)))
        self.playbook.expect(worker.gets(outbound.RunStricted("q")))

    def listed(self, worker: WorkerPeer | None = None, **asked: Any) -> outbound.Unmatched:
        """Let a worker ask for the list."""
        worker = worker or self.worker
        worker.sends(inbound.UnmatchedQuery("q", **asked))
        (answer,) = messages(self.playbook.take(), worker)
        assert isinstance(answer, outbound.Unmatched)
        return answer

    def urls(self, worker: WorkerPeer | None = None) -> list[str]:
        return [row.url for row in self.listed(worker).requests]

    def alone(self, url: str = URL, *, request_id: str = "r1", agent: Peer | None = None) -> None:
        """Refuse a request that carries no context."""
        self.asks(url, context=None, request_id=request_id, agent=agent)


class RunTests(RunCase):
    """A run that is strict as long as a connection lives."""

    def test_unowned(self) -> None:
        """What no test owns is refused, fails no test, and is listed."""
        self.run_strict("auth.example")
        self.registers(allow=None)
        effects = self.asks(context=None)
        text = self.refused(effects)
        self.assertIn("It carries the context of no test.", text)
        self.assertIn("allows only auth.example", text)
        self.assertEqual(self.told(effects), [])
        self.assert_passed(self.asks("https://auth.example/", context=None, request_id="r2"))
        self.assert_passed(self.asks(request_id="r3"), "a test that is not strict")
        at = self.playbook.now().epoch_ms
        row = refused_request.UnmatchedRequest(
            "POST", URL, "shop", "http", 1, text, at, at, "client shop"
        )
        self.assertEqual(self.listed(), outbound.Unmatched("q", [row], 0))

    def test_lost_context(self) -> None:
        """How it lost the context is said of what no test owns, not of what fails its test."""
        self.registers()
        for is_said in (False, True):
            message = start(f"{is_said}", URL, "shop")
            self.agent.sends(structs.replace(message, origin=THREAD))
            effects = self.playbook.take()
            (lost,) = [each.lost for each in effects if isinstance(each, RequestSeen)]
            assert lost is not None
            self.assertEqual(lost.how in self.refused(effects), is_said)
            self.run_strict()

    def test_late(self) -> None:
        """What carries the context of an ended test is nobody's."""
        self.run_strict()
        self.registers()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.playbook.take()
        text = self.refused(self.asks(context=A))
        self.assertIn('It was made for the test "buys", which has ended.', text)
        self.assertEqual(self.urls(), [URL])

    def test_ends_after_the_connection(self) -> None:
        """What an application sends just after the last test is refused, later it is not."""
        self.run_strict("a.test")
        self.worker.closes()
        self.playbook.expect()
        self.playbook.wait(SETTINGS.strict_quiet - 1)
        self.playbook.take()
        self.assertIn("ended just now", self.refused(self.asks(context=None)))
        self.assert_passed(self.asks("http://a.test/", context=None, request_id="r2"))
        self.playbook.wait(SETTINGS.strict_quiet)
        self.playbook.take()
        self.assert_passed(self.asks(context=None, request_id="r3"))

    def test_lasts_until_quiet(self) -> None:
        """While the application sends requests, also allowed ones, the run is not over."""
        self.run_strict("a.test")
        self.worker.closes()
        self.playbook.expect()
        for number in range(3):
            self.playbook.wait(SETTINGS.strict_quiet - 1)
            self.playbook.take()
            self.assert_passed(self.asks("http://a.test/", context=None, request_id=f"a{number}"))
        self.refused(self.asks(context=None))
        self.playbook.wait(SETTINGS.strict_quiet)
        self.playbook.take()
        self.assert_passed(self.asks(context=None, request_id="r2"))

    def test_next_test_ends_it(self) -> None:
        """The first test of a run that is not strict begins without the strictness of the last."""
        self.run_strict()
        self.worker.closes()
        self.playbook.expect()
        self.registers(allow=None, worker=self.other)
        self.assert_passed(self.asks(context=None))
        self.playbook.wait(SETTINGS.strict_quiet)
        self.playbook.take()

    def test_lost_and_ended(self) -> None:
        """A lost run lasts longer than one that ended after it, also after the next test."""
        self.run_strict()
        self.worker.dies()
        self.playbook.take()
        self.run_strict(worker=self.other)
        self.other.closes()
        self.playbook.take()
        self.playbook.wait(SETTINGS.strict_quiet)
        self.playbook.take()
        self.registers(allow=None, worker=self.playbook.worker("3", features=OF_WORKERS))
        self.refused(self.asks(context=None))

    def test_several(self) -> None:
        """What one of several connections allows is allowed."""
        self.run_strict("a.test")
        self.run_strict("b.test", worker=self.other)
        self.assert_passed(self.asks("http://a.test/", context=None))
        self.assert_passed(self.asks("http://b.test/", context=None, request_id="r2"))
        self.other.closes()
        self.playbook.expect()
        self.refused(self.asks("http://b.test/", context=None, request_id="r3"))

    def test_bad_pattern(self) -> None:
        """A pattern that cannot be read is answered, and changes nothing."""
        self.worker.sends(inbound.RunStrict("q", ["a b"]))
        (answer,) = messages(self.playbook.take(), self.worker)
        assert isinstance(answer, outbound.RunStricted)
        self.assertIn("'a b' is no host", str(answer.error))
        self.assert_passed(self.asks(context=None))

    def test_nearest(self) -> None:
        """Routes of all tests are compared, and their test is named."""
        self.run_strict()
        self.registers(allow=None)
        self.routes("**/v1/charge", place="shop_test.py:12")
        text = self.refused(self.asks(context=None))
        self.assertIn('route "**/v1/charge" (shop_test.py:12) of "buys": path differs', text)

    def test_websocket(self) -> None:
        """A WebSocket is listed, too."""
        self.run_strict()
        self.refused(self.opens("wss://api.test/", context=None))
        (row,) = self.listed().requests
        self.assertEqual((row.kind, row.method, row.url), ("websocket", "GET", "wss://api.test/"))


class ServiceTests(RunCase):
    """A service that is strict."""

    def setUp(self) -> None:
        self.begin(strict=read_allow_list(["auth.example"]))

    def test_before_any_test(self) -> None:
        """What an application asks before the first test is refused and listed."""
        self.refused(self.asks(context=None))
        self.assert_passed(self.asks("https://auth.example/", context=None, request_id="r2"))
        self.assertEqual(self.urls(), [URL])

    def test_all_tests(self) -> None:
        """Each test is strict, and allows its own patterns besides."""
        self.registers(allow=None)
        self.registers("sells", context=B, allow=["api.test"], worker=self.other)
        self.assertEqual(self.detail(self.asks()).allow, ["auth.example"])
        self.assert_passed(self.asks(context=B, request_id="r2"))
        effects = self.asks("http://other.test/", context=B, request_id="r3")
        (error,) = self.told(effects, self.other)
        self.assertEqual(error.detail.allow, ["api.test", "auth.example"])
        self.assertEqual(self.urls(), [])

    def test_test_that_ends_its_own(self) -> None:
        """A test cannot end what the service asks."""
        self.registers(allow=["api.test"])
        self.worker.sends(inbound.TestStrict("buys"))
        self.playbook.take()
        self.refused(self.asks())

    def test_only_test(self) -> None:
        """What carries no context belongs to the only test, if that has none."""
        self.registers(context=None, allow=None)
        self.detail(self.asks(context=None))
        self.assertEqual(self.urls(), [])


class ListTests(RunCase):
    """The list: counts, limits, and when a run is over."""

    def setUp(self) -> None:
        self.begin(strict=NOTHING)

    def test_counts(self) -> None:
        """One row for each method, URL and client, in the order in which they came."""
        for number, (method, url) in enumerate(
            [("GET", "http://b.test/"), ("GET", "http://a.test/"), ("POST", "http://b.test/")] * 2
        ):
            self.asks(url, method=method, context=None, request_id=f"r{number}")
        self.assertEqual(
            [(row.method, row.url, row.count) for row in self.listed().requests],
            [
                ("GET", "http://b.test/", 2),
                ("GET", "http://a.test/", 2),
                ("POST", "http://b.test/", 2),
            ],
        )

    def test_limit(self) -> None:
        """Beyond the limit requests are counted only; known rows go on counting."""
        for number in range(MOST_ROWS + 2):
            self.alone(f"http://h.test/{number}", request_id=f"r{number}")
        self.alone("http://h.test/0", request_id="again")
        answer = self.listed()
        self.assertEqual((len(answer.requests), answer.dropped), (MOST_ROWS, 2))
        self.assertEqual(answer.requests[0].count, 2)

    def test_long_method(self) -> None:
        """A method of any length must not fill the memory."""
        for number, length in enumerate((LONGEST_METHOD, LONGEST_METHOD + 1)):
            self.asks(URL, method="x" * length, context=None, request_id=f"r{number}")
        answer = self.listed()
        self.assertEqual((len(answer.requests), answer.dropped), (1, 1))

    def test_over_with_the_last_that_asked(self) -> None:
        """Workers that never asked do not end the run, nor does one of two that did."""
        self.alone()
        self.listed(self.worker)
        self.listed(self.other)
        third = self.playbook.worker("2", features=OF_WORKERS)
        for worker in (third, self.other):
            worker.dies()
            self.playbook.expect()
        self.assertEqual(self.urls(), [URL])
        self.worker.dies()
        self.playbook.expect()
        self.assertEqual(self.urls(self.playbook.worker("3", features=OF_WORKERS)), [])

    def next_run(self) -> Peer:
        """End a run, and refuse two requests before the next: of an old and of a new agent."""
        self.listed()
        self.other.dies()
        self.playbook.expect()
        self.worker.dies()
        self.playbook.expect()
        self.alone("http://old.test/", request_id="r1")
        new = self.playbook.agent("new", features=OF_AGENTS)
        self.alone("http://new.test/", request_id="r2", agent=new)
        return new

    def test_between_runs(self) -> None:
        """An application that outlived a run counts only while a worker is there."""
        self.next_run()
        worker = self.playbook.worker("3", features=OF_WORKERS)
        self.alone("http://during.test/", request_id="r3")
        self.assertEqual(self.urls(worker), ["http://new.test/", "http://during.test/"])

    def test_dropped_is_forgotten(self) -> None:
        """A new run begins to count anew."""
        for number in range(MOST_ROWS + 1):
            self.alone(f"http://h.test/{number}", request_id=f"r{number}")
        self.next_run()
        worker = self.playbook.worker("3", features=OF_WORKERS)
        self.assertEqual(self.listed(worker).dropped, 0)
