"""The composition root: options become a service."""

import sys
from io import StringIO
from typing import Any

from twisted.application.service import IServiceMaker
from twisted.internet.address import IPv4Address
from twisted.internet.endpoints import TCP4ServerEndpoint, TCP6ServerEndpoint
from twisted.plugin import getPlugins
from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import running_proxy
from tests.support.raw_client import RawClient
from trafficmock import __version__
from trafficmock.history import traffic_counts
from trafficmock.history.store import History
from trafficmock.matching.host_pattern import read_host_pattern
from trafficmock.server.options import ProxyOptions
from trafficmock.server.service import ProxyService
from trafficmock.tap import _decisions, makeService


def made(*words: str) -> ProxyService:
    options = ProxyOptions()
    options.parseOptions(list(words))
    return makeService(options)


class PluginTests(SynchronousTestCase):
    """What twistd finds."""

    def test_found(self) -> None:
        """The plugin is called trafficmock and leads to the options and the service."""
        (plugin,) = [each for each in getPlugins(IServiceMaker) if each.tapname == "trafficmock"]
        self.assertIs(plugin.options, ProxyOptions)
        self.assertIs(plugin.makeService, makeService)


class OptionTests(SynchronousTestCase):
    """Each option reaches whom it is for."""

    def test_core(self) -> None:
        """Times become seconds."""
        words = ["--claim-timeout-ms", "250", "--heartbeat-ms=1500", "--idle-timeout-ms=9000"]
        more = ["--hello-timeout-ms=0", "--ownership=always-ask", "--handler-body-bytes=7"]
        more += [
            "--strict-quiet-ms=200",
            "--body-timeout-ms=750",
            "--history-body-bytes=8",
            "--max-frame-bytes=4096",
        ]
        driver: Any = made(*words, *more, "--token", "t").driver
        settings = driver.coordinator.settings
        self.assertEqual(settings.claim_timeout, 0.25)
        self.assertEqual(settings.heartbeat, 1.5)
        self.assertEqual(settings.idle_timeout, 9.0)
        self.assertEqual(settings.hello_timeout, 0.0)
        self.assertEqual(settings.strict_quiet, 0.2)
        self.assertEqual(settings.body_timeout, 0.75)
        self.assertEqual(settings.ownership, "always-ask")
        self.assertEqual(settings.handler_body_bytes, 7)
        self.assertEqual((settings.history_body_bytes, settings.frame_bytes), (8, 4096))
        self.assertEqual((settings.token, settings.version), ("t", __version__))

    def test_forward_proxy(self) -> None:
        """The forward proxy gets its times, limits, hosts and ways."""
        words = ["--connect-timeout-ms=500", "--upstream-timeout-ms=0", "--abort-hold-ms=250"]
        words += ["--tunnel=*.bank.test", "--upstream-insecure=dev.test", "--token=t"]
        words += ["--resolve=a.test:80:127.0.0.9", "--upstream-proxy=http://u:p@proxy.test:3128"]
        site: Any = made(*words, "--max-header-bytes=2048", "--max-frame-bytes=4096").site
        context = site._forward.resources
        settings, dialer = context.settings, context.dialer
        self.assertEqual((settings.response_seconds, settings.abort_hold_seconds), (0.0, 0.25))
        self.assertEqual((settings.max_header_bytes, settings.max_frame_bytes), (2048, 4096))
        self.assertEqual((settings.token, dialer.connect_seconds), ("t", 0.5))
        self.assertEqual(settings.tunnels, (read_host_pattern("*.bank.test"),))
        self.assertEqual(dialer.trust.insecure, (read_host_pattern("dev.test"),))
        self.assertEqual(dialer.resolved, {("a.test", 80): "127.0.0.9"})
        self.assertEqual((dialer.proxy.host, dialer.proxy.port), ("proxy.test", 3128))

    def test_predecessor(self) -> None:
        """On a port that another process may have had, its agents may still decide for a while."""
        for option, predecessors in (("--port=4310", 1), ("--port=0", 0), ("--local=off", 0)):
            service: Any = made(option)
            service.listens(IPv4Address("TCP", "127.0.0.1", 4311))
            self.assertEqual(service.site._forward.resources.dialer.service_port, 4311)
            self.assertEqual(len(service.driver.coordinator.local.lost), predecessors, option)

    def test_open_to_all(self) -> None:
        """Only a token or --insecure lets the service listen beyond loopback."""
        self.assertFalse(made().open_to_all)
        self.assertTrue(made("--token", "t").open_to_all)
        self.assertTrue(made("--insecure").open_to_all)

    def test_banner(self) -> None:
        """The banner names every address that people need, and whether there is a token."""
        expected = [
            f"trafficmock {__version__} listens on http://h:1",
            "  agents and tests connect to http://h:1 (coordinator ws://h:1/ws)",
            "  recorded traffic: http://h:1/api/history (capture: all)",
            "  token: required",
        ]
        self.assertEqual(made("--token", "hush").banner("http://h:1"), expected)
        self.assertIn("  token: none", made().banner("http://h:1"))


class EndpointTests(SynchronousTestCase):
    """Where to listen."""

    def endpoint(self, *words: str) -> Any:
        return made(*words).endpoint

    def test_addresses(self) -> None:
        """Host and port are taken as they are, IPv6 included."""
        here = self.endpoint("--port", "0")
        self.assertIsInstance(here, TCP4ServerEndpoint)
        self.assertEqual((here._interface, here._port), ("127.0.0.1", 0))
        six = self.endpoint("--host", "::1", "--port", "4311")
        self.assertIsInstance(six, TCP6ServerEndpoint)
        self.assertEqual((six._interface, six._port), ("::1", 4311))

    def test_endpoint(self) -> None:
        """An endpoint stands in the place of host and port."""
        self.assertEqual(self.endpoint("--endpoint", "tcp:7:interface=127.0.0.2")._port, 7)

    def test_bad(self) -> None:
        """An endpoint that cannot be understood ends with one line and status 1."""
        for text in ("carrier-pigeon:1", "tcp", "tcp:http", "tcp:1:colour=red", "systemd:index=0"):
            message = StringIO()
            self.patch(sys, "__stderr__", message)
            ended = self.assertRaises(SystemExit, made, "--endpoint", text)
            self.assertEqual(ended.code, 1)
            self.assertTrue(
                message.getvalue().startswith(f"trafficmock: --endpoint {text!r} cannot")
            )
            self.assertEqual(message.getvalue().count("\n"), 1)


class DecisionTests(SynchronousTestCase):
    """What metrics tell of decisions is what the history counts."""

    def test_decisions(self) -> None:
        """Requests and WebSockets, with the port of a host, and hosts beyond the bound."""
        self.patch(traffic_counts, "MOST_HOSTS", 1)
        history = History()
        tally = history.tally
        for number, url in enumerate(("http://a.test:8/1", "http://a.test:8/2", "http://b.test/")):
            tally.requests.saw(str(number), url, None)
            tally.requests.decided(str(number), "passthrough")
        tally.web_sockets.saw("s", "ws://a.test/", None)
        tally.web_sockets.decided("s", "matched")
        expected = [("passthrough", "a.test:8", 2), ("passthrough", None, 1)]
        self.assertEqual(list(_decisions(history)), [*expected, ("matched", "a.test", 1)])


class WholeTests(SynchronousTestCase):
    """All of it together, in a process of its own."""

    def test_decision(self) -> None:
        """A test's handler answers an application's request, and the history shows it."""
        with running_proxy() as running:
            app, worker = RawClient.connect(running.url), RawClient.connect(running.url)
            app.hello("node", clientId="shop")
            worker.hello("playwright", workerId="0")
            register(worker, "http://h.test/*")
            app.send(type="request:start", requestId="q", clientId="shop", request=REQUEST)
            self.assertEqual(worker.receive()["type"], "request:observed")
            self.assertEqual(worker.receive()["type"], "request:matched")
            result = {"action": "fulfill", "response": RESPONSE}
            worker.send(type="handler:result", requestId="q", result=result)
            decision = app.receive()
            (entry,) = running.get("/api/history")["entries"]
        self.assertEqual(
            decision, {"type": "decision:fulfill", "requestId": "q", "response": RESPONSE}
        )
        self.assertEqual((entry["outcome"]["kind"], entry["title"]), ("mocked", "buys"))

    def test_end(self) -> None:
        """At the end whoever waits for a decision gets an answer, then a clean close."""
        with running_proxy() as running:
            app, worker = RawClient.connect(running.url), RawClient.connect(running.url)
            app.hello("node", clientId="shop")
            worker.hello("playwright", workerId="0")
            register(worker, "http://h.test/*")
            app.send(type="request:start", requestId="q", clientId="shop", request=REQUEST)
            worker.receive()
            running.process.terminate()
            decision = app.receive()
            self.assertEqual(app.close_code(), 1001)
            app.close()
            worker.close()
            self.assertEqual(running.stop(), 0)
        self.assertEqual((decision["type"], decision["code"]), ("decision:error", "disconnected"))
        self.assertIn("stopped", decision["message"])


REQUEST: dict[str, Any] = {
    "url": "http://h.test/a",
    "method": "GET",
    "headers": {},
    "bodyBase64": None,
}
RESPONSE: dict[str, Any] = {"status": 200, "statusText": "OK", "headers": {}, "bodyBase64": None}


def register(worker: RawClient, glob: str) -> None:
    """Register one test with one route, and wait for both acks."""
    worker.send(type="test:register", testId="t", title="buys", file="a.spec.ts", workerId="0")
    worker.send(type="route:register", routeId="r", testId="t", matcher={"urlGlob": glob})
    acks = [worker.receive()["type"], worker.receive()["type"]]
    assert acks == ["test:registered", "route:registered"], acks
