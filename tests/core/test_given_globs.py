"""The addition ``globs``: the coordinator reads the globs of workers."""

from typing import Any

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import start
from tests.support.playbook import Peer, Playbook
from trafficmock.core.effects import Diagnose, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.client_message import GlobQuery, GlobResult
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher
from trafficmock.wire.payloads.unmet_routes import UnmetRoute
from trafficmock.wire.waits.wait_messages import WaitOverdue, WaitRegister

SHOP = "http://shop.test/"
UNCLOSED = "no '}' for the '{' at character 4 of the URL glob '**/{a'"


class GlobsTests(SynchronousTestCase):
    """A worker with ``chain``, and one of npm's."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent = self.playbook.agent()
        features = ("chain",)
        self.worker = self.playbook.worker(features=features)
        self.npm = self.playbook.worker("1")
        for name, worker in ("t", self.worker), ("n", self.npm):
            worker.sends(inbound.TestRegister(name, name, "f.py", "0"))
            self.playbook.take()

    def sends(self, worker: Peer, message: inbound.Message) -> list[Any]:
        worker.sends(message)
        return [each.message for each in self.playbook.take() if isinstance(each, Send)]

    def registers(self, worker: Peer, test: str, kind: Any = "http", **matcher: Any) -> list[Any]:
        route = inbound.RouteRegister(f"{test}1", test, SerializedMatcher(**matcher), kind)
        return self.sends(worker, route)

    def test_relative(self) -> None:
        """A relative glob is compared without a question to the worker."""
        self.registers(self.worker, "t", url_glob="cup", base_url=SHOP)
        sent = self.sends(self.agent, start("r1", SHOP + "cup"))
        self.assertEqual(
            [type(each) for each in sent if hasattr(each, "route_id")], [outbound.HandlerRun]
        )

    def test_of_no_base(self) -> None:
        """Without a base URL the worker is asked about a relative glob."""
        self.registers(self.worker, "t", url_glob="cup")
        sent = self.sends(self.agent, start("r1", SHOP + "cup"))
        self.assertTrue(any(isinstance(each, outbound.RequestClaim) for each in sent))

    def test_refused(self) -> None:
        """A bad glob is refused, with the text for the error of the call."""
        (refusal,) = self.registers(self.worker, "t", url_glob="**/{a")
        self.assertEqual(refusal, outbound.ProxyError("invalid_glob", UNCLOSED, "t", route_id="t1"))
        (refusal,) = self.registers(self.worker, "t", url_glob="https://**")
        self.assertIn("has no path", refusal.message)
        (answer,) = self.registers(self.worker, "t", "websocket", url_glob="https://**")
        self.assertEqual(answer, outbound.RouteRegistered("t1"))

    def test_wait(self) -> None:
        """A wait with a bad glob ends at once, by the error; another one is for the base URL."""
        bad = WaitRegister("w", "t", "request", SerializedMatcher(url_glob="**/{a"))
        (ended,) = self.sends(self.worker, bad)
        assert isinstance(ended, WaitOverdue)
        self.assertEqual((ended.wait_id, ended.error), ("w", UNCLOSED))
        matcher = SerializedMatcher(url_glob="cup", base_url=SHOP)
        self.sends(self.worker, WaitRegister("w", "t", "request", matcher))
        sent = self.sends(self.agent, start("r1", SHOP + "cup"))
        self.assertIn("w", [getattr(each, "wait_id", None) for each in sent])

    def test_diagnosis(self) -> None:
        """A diagnosis compares absolute globs, so that it can name the host that differs."""
        matcher = SerializedMatcher(url_glob="cup", base_url=SHOP)
        unmet = UnmetRoute(matcher, route_id="t1", text="no request met it")
        self.worker.sends(inbound.DiagnosisQuery("d", "t", [unmet], {}, {}))
        (effect,) = (each for each in self.playbook.take() if isinstance(each, Diagnose))
        self.assertEqual(effect.query.unmet[0].matcher, SerializedMatcher(url_glob=SHOP + "cup"))

    def test_query(self) -> None:
        """A worker gets a glob as a regular expression, or the error."""
        (answer,) = self.sends(self.worker, GlobQuery("q", "c*p", SHOP))
        self.assertEqual(answer, GlobResult("q", r"^http:\/\/shop\.test\/c[^/]*p$"))
        (answer,) = self.sends(self.worker, GlobQuery("q", "**/{a"))
        self.assertEqual(answer, GlobResult("q", error=UNCLOSED))
        (answer,) = self.sends(self.worker, GlobQuery("q", "cup", SHOP, "websocket"))
        self.assertEqual(answer.source, r"^ws:\/\/shop\.test\/cup$")

    def test_without_the_feature(self) -> None:
        """The globs of npm workers are never refused, and have no base URL here."""
        for glob in ("**/{a", "https://**"):
            self.assertEqual(
                self.registers(self.npm, "n", url_glob=glob), [outbound.RouteRegistered("n1")]
            )
            self.sends(self.npm, inbound.RouteUnregister("n1"))
        self.registers(self.npm, "n", url_glob="cup", base_url=SHOP)
        (route,) = self.playbook.coordinator.state.registry.routes.values()
        self.assertIs(route.matcher.base_url, UNSET)
