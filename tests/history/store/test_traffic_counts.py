"""Counts by host, test and worker, whatever the history keeps."""

import json

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import OWNER, request, response
from trafficmock import records
from trafficmock.history import traffic_counts
from trafficmock.history.rest_records import encode
from trafficmock.history.store import History
from trafficmock.history.traffic_counts import OTHER_HOSTS, Tally


def owner(test_id: str) -> records.Owner:
    return records.Owner(test_id, "r", f"test {test_id}", "a.py")


def carried(test_id: str) -> records.CarriedContext:
    return records.CarriedContext(test_id, f"test {test_id}", "a.py", late=False)


class HistoryTests(SynchronousTestCase):
    """What the events of requests and WebSockets count."""

    def test_charge(self) -> None:
        """A charge that left still counts, with its host and test, after a thousand mocks."""
        history = History(http_limit=10)
        seen = records.RequestSeen(
            "p", "app", request("http://u:p@pay.test:81/x"), carried=carried("t1")
        )
        history.record(seen, 1)
        history.record(records.RequestPassedThrough("p"), 2)
        for each in range(1000):
            history.record(records.RequestSeen(f"m{each}", "app", request("http://a.test/")), 3)
            history.record(records.RequestFulfilled(f"m{each}", owner("t2"), response()), 4)
        told = json.loads(encode(history.summary()))
        hosts = {"pay.test:81": {"passthrough": 1}, "a.test": {"fulfill": 1000}}
        self.assertEqual(told["requests"]["hosts"], hosts)
        first, second = told["tests"]
        self.assertEqual(first["testId"], "t1")
        self.assertEqual(first["requests"]["hosts"], {"pay.test:81": {"passthrough": 1}})
        self.assertEqual(second["requests"]["decisions"], {"fulfill": 1000})
        self.assertEqual(told["unowned"]["requests"]["decisions"], {})

    def test_sockets(self) -> None:
        """WebSockets count beside requests."""
        history = History(capture="none")
        history.record(records.SocketSeen("s", "app", "ws://h.test/x", []), 1)
        history.record(records.SocketOwned("s", OWNER), 2)
        history.record(records.SocketOwned("s", OWNER), 3)
        [test] = history.summary().tests
        self.assertEqual(test.web_sockets.hosts, {"h.test": {"matched": 1}})


class TallyTests(SynchronousTestCase):
    """Workers, and limits."""

    def setUp(self) -> None:
        self.tally = Tally()
        self.number = 0

    def decide(self, url: str, action: str, test_id: str = "") -> None:
        self.number += 1
        counts = self.tally.requests
        counts.saw(str(self.number), url, carried(test_id) if test_id else None)
        counts.decided(str(self.number), action)

    def began(self, test_id: str, worker: str) -> None:
        self.tally.began(records.TestBegan(test_id, "", "", None, worker), 1)

    def test_workers(self) -> None:
        """A worker has what its tests had, and what was of no test before and after it joined."""
        self.decide("http://old.test/", "passthrough")
        for worker in ("w1", "w2"):
            self.tally.joined(worker)
            self.began(f"t-{worker}", worker)
        self.decide("http://a.test/", "fulfill", "t-w1")
        self.decide("http://b.test/", "fulfill", "t-w2")
        self.decide("http://new.test/", "passthrough")
        told = self.tally.of_worker("w1")
        self.assertEqual(told.tests.requests.hosts, {"a.test": {"fulfill": 1}})
        self.assertEqual(told.before.requests.hosts, {"old.test": {"passthrough": 1}})
        self.assertEqual(set(told.unowned.requests.hosts), {"old.test", "new.test"})
        self.tally.left("w1")
        self.decide("http://a.test/", "fulfill", "t-w1")
        self.assertEqual(self.tally.of_worker("w1").tests.requests.decisions, {})

    def test_many_hosts(self) -> None:
        """Hosts beyond the limit count together."""
        self.patch(traffic_counts, "MOST_HOSTS", 3)
        for each in range(6):
            self.decide(f"http://h{each}/", "passthrough")
        self.assertEqual(self.tally.requests.all.hosts[OTHER_HOSTS], {"passthrough": 3})
        self.assertEqual(self.tally.requests.all.decisions, {"passthrough": 6})

    def test_many_tests(self) -> None:
        """The oldest tests are dropped beyond the limit; all other counts stay."""
        self.patch(traffic_counts, "MOST_TEST_COUNTS", 4)
        for each in range(6):
            self.decide("http://h/", "passthrough", f"t{each}")
            self.decide("http://h/", "fulfill", f"t{each}")
        self.assertEqual([each.test_id for each in self.tally.tests], ["t4", "t5"])
        self.assertEqual(self.tally.dropped, 4)
        self.assertEqual(self.tally.requests.all.decisions, {"passthrough": 6, "fulfill": 6})

    def test_many_undecided(self) -> None:
        """What waits for a decision is bounded."""
        self.patch(traffic_counts, "MOST_UNDECIDED", 2)
        for each in "abc":
            self.tally.requests.saw(each, "http://h/", None)
        for each in "abc":
            self.tally.requests.decided(each, "passthrough")
        self.assertEqual(self.tally.requests.all.decisions, {"passthrough": 2})

    @given(st.text(max_size=40) | st.from_regex(r"[a-z]+://[^/]{0,300}/?.*"))
    def test_any_url(self, url: str) -> None:
        """Applications choose URLs: the host of any is short, and has no path and no password."""
        self.decide(url, "passthrough")
        for host in self.tally.requests.all.hosts:
            self.assertLessEqual(len(host), 253)
            self.assertFalse({*"/?#@"} & {*host})
