"""Who is connected, as REST shows it."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.server.fakes import DriverHarness, FakeLink
from trafficmock.core.settings import Settings
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.server.rest.connections_report import connections_report


class ConnectionsReportTests(SynchronousTestCase):
    """The report of agents and workers."""

    def test_rows(self) -> None:
        """Rows come in the order of connecting, with counts over both kinds of route."""
        harness = DriverHarness()
        harness.connect()
        harness.clock.advance(2)
        harness.agent("shop")
        worker = harness.worker_with_route("**/x")
        harness.send_message(
            worker, "route:register", routeId="ws", testId="t", matcher={}, kind="websocket"
        )
        harness.send_message(worker, "route:register", routeId="inert", testId="later", matcher={})
        harness.hello("playwright")
        self.assertEqual(
            connections_report(harness.driver.coordinator),
            {
                "nodeAgents": [
                    {
                        "clientId": "shop",
                        "connectionId": "test-2",
                        "connectedAt": 1_002_000,
                        "kind": "node",
                    }
                ],
                "runnerWorkers": [
                    {
                        "clientId": "playwright-test-3",
                        "connectionId": "test-3",
                        "connectedAt": 1_002_000,
                        "workerId": "0",
                        "testCount": 1,
                        "routeCount": 3,
                    },
                    {
                        "clientId": "playwright-test-4",
                        "connectionId": "test-4",
                        "connectedAt": 1_002_000,
                        "testCount": 0,
                        "routeCount": 0,
                    },
                ],
                "local": {"on": True, "asksAll": False, "passed": 0, "asked": 0},
            },
        )

    def test_local(self) -> None:
        """It says how many requests agents let pass without asking."""
        harness = DriverHarness()
        agent = harness.connect()
        harness.send_message(
            agent,
            "hello",
            protocolVersion=3,
            packageVersion="0.1.0",
            role="node",
            features=["local"],
        )
        request: Any = {"url": "http://h.test/", "method": "GET", "headers": {}, "bodyBase64": None}
        ids: dict[str, Any] = {"clientId": "shop", "request": request}
        harness.send_message(agent, "request:start", requestId="r1", unreported=5, **ids)
        harness.send_message(agent, "request:passed", requestId="r2", n=0, **ids)
        report = connections_report(harness.driver.coordinator)
        self.assertEqual(report["nodeAgents"][0]["local"], {"passed": 6, "asked": 1})
        self.assertEqual(report["local"], {"on": True, "asksAll": False, "passed": 6, "asked": 1})

    def test_strict(self) -> None:
        """It says who is strict, and what that allows: the service, runs, and tests."""
        settings = Settings(version="1.2.3", strict=read_allow_list(["a.test"]))
        harness = DriverHarness(settings=settings)
        worker = harness.hello("playwright", features=["strict"])
        harness.send_message(worker, "run:strict", queryId="q", allow=["b.test"])
        for test_id, more in (("t", {"strict": {"allow": ["c.test"]}}), ("u", {})):
            harness.send_message(
                worker,
                "test:register",
                testId=test_id,
                title="T",
                file="f",
                workerId="0",
                **more,
            )
        matcher = {"urlGlob": "**"}
        harness.send_message(
            worker, "route:register", routeId="r", testId="t", matcher=matcher, place="f:12"
        )
        report = connections_report(harness.driver.coordinator, tests=True)
        (row,) = report["runnerWorkers"]
        self.assertEqual(report["strict"], {"allow": ["a.test"]})
        self.assertEqual((row["strict"], row["strictTestCount"]), ({"allow": ["b.test"]}, 1))
        strict, other = row["tests"]
        self.assertEqual(strict["strict"], {"allow": ["c.test"]})
        self.assertEqual(strict["routes"][0]["place"], "f:12")
        self.assertNotIn("strict", other)

    def test_lost_run(self) -> None:
        """It says until when what nobody owns is refused for a run whose worker was lost."""
        harness = DriverHarness()

        def begin_run(pattern: str) -> FakeLink:
            worker = harness.hello("playwright", features=["strict"])
            harness.send_message(worker, "run:strict", queryId="q", allow=[pattern])
            return worker

        def lost_runs() -> object:
            return connections_report(harness.driver.coordinator).get("lostRuns")

        other, lost = begin_run("a.test"), begin_run("a.test")
        harness.driver.link_closed(other)
        harness.clock.advance(5)
        self.assertIsNone(lost_runs())
        harness.driver.link_closed(lost)
        self.assertEqual(lost_runs(), [{"allow": ["a.test"], "until": 1_035_000}])
        back = begin_run("b.test")
        self.assertIsNone(lost_runs(), "only what a connected run allows counts")
        back.closed_cleanly = True
        harness.driver.link_closed(back)
        ended = {"allow": ["b.test"], "until": 1_010_000}
        self.assertEqual(lost_runs(), [{"allow": ["a.test"], "until": 1_035_000}, ended])
        harness.clock.advance(5)
        self.assertEqual(lost_runs(), [{"allow": ["a.test"], "until": 1_035_000}])
        harness.clock.advance(25)
        self.assertIsNone(lost_runs())

    def test_process(self) -> None:
        """A row says which process it is, where its client told."""
        harness = DriverHarness()
        for role in ("node", "playwright"):
            harness.hello(role, pid=4711, command="node server.js")
        report = connections_report(harness.driver.coordinator)
        for row in (*report["nodeAgents"], *report["runnerWorkers"]):
            self.assertEqual((row["pid"], row["command"]), (4711, "node server.js"))

    def test_tests(self) -> None:
        """On request, workers list their tests with the routes of each."""
        harness = DriverHarness()
        worker = harness.worker_with_route("**/x")
        harness.send_message(
            worker, "route:register", routeId="ws", testId="t", matcher={}, kind="websocket"
        )
        (row,) = connections_report(harness.driver.coordinator, tests=True)["runnerWorkers"]
        (test,) = row["tests"]
        self.assertEqual(
            (test["testId"], sorted(test)), ("t", ["file", "routes", "testId", "title"])
        )
        self.assertEqual(
            [(route["kind"], route["matcher"]) for route in test["routes"]],
            [("http", {"urlGlob": "**/x"}), ("websocket", {})],
        )
