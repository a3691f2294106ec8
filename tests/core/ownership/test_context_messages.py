"""Who is told of contexts: observers, agents, and the browser proxies of tests."""

from attrs import evolve
from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.core.ownership.context_case import UNKNOWN, A, B, ContextCase
from tests.support.builders import (
    continue_,
    observe,
    redirect,
    report,
    request,
)
from tests.support.playbook import SETTINGS, Peer, Playbook
from trafficmock.core.effects import CloseBrowserProxy, Effects, OpenBrowserProxy, Send
from trafficmock.matching.host_pattern import read_host_pattern
from trafficmock.records import RequestContinued
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.application_origins import ApplicationOrigins
from trafficmock.wire.payloads.serialized_request import SerializedOverrides


class ObserverTests(ContextCase):
    """Who hears of traffic."""

    def setUp(self) -> None:
        super().setUp()
        self.npm = self.playbook.worker("2")
        self.npm.test("npm")
        for test in (self.a, self.b):
            test.worker.sends(inbound.TestSubscribe(test.id))
            self.playbook.expect(test.worker.gets(outbound.TestSubscribed(test.id)))

    def told(self) -> dict[str, outbound.RequestObserved]:
        """Give what each connection was told."""
        return {one: said for to, said in self.sent(outbound.RequestObserved) for one in to}

    def test_own(self) -> None:
        """Workers with the feature hear their own traffic and what has no context; others all."""
        plain = outbound.RequestObserved("r1", request(), "app")
        own = structs.replace(plain, context="own", test_id="buys")
        self.starts(A)
        self.assertEqual(self.told(), {self.mine.id: own, self.npm.id: plain})
        self.agent.sends(report())
        self.assertEqual(self.heard_responses(), {self.mine.id, self.npm.id})
        self.starts(None)
        self.assertEqual(
            self.told(), {self.mine.id: plain, self.theirs.id: plain, self.npm.id: plain}
        )

    def heard_responses(self) -> set[str]:
        return {one for to, _ in self.sent(inbound.RequestResponse) for one in to}

    def test_body_that_comes_later(self) -> None:
        """The same holds for a request that is observed when its body is there."""
        self.starts(A, body_pending=True)
        self.assertEqual(self.told(), {})
        self.agent.sends(inbound.RequestBody("r1", request().body_base64))
        self.assertEqual(self.told().keys(), {self.mine.id, self.npm.id})

    def test_written_by_a_handler(self) -> None:
        """A context that a handler writes into headers goes out, and is not in the history."""
        self.a.route("**")
        self.playbook.take()
        self.starts(A)
        self.playbook.take()
        value = f"trafficmock.test={A}"
        overrides = SerializedOverrides(
            headers={"baggage": value, "a": "b"}, headers_list=[("baggage", value), ("a", "b")]
        )
        self.mine.sends(continue_("r1", overrides))
        (record,) = [each for each in self.playbook.take() if isinstance(each, RequestContinued)]
        hidden = "trafficmock.test=…"
        assert record.overrides is not None
        self.assertEqual(record.overrides.headers, {"baggage": hidden, "a": "b"})
        self.assertEqual(record.overrides.headers_list, [("baggage", hidden), ("a", "b")])

    def test_written_in_one_form(self) -> None:
        """The same where the headers come in one of their two forms."""
        self.a.route("**")
        self.playbook.take()
        value, hidden = f"trafficmock.test={A}", "trafficmock.test=…"
        for number, overrides in enumerate(
            (
                SerializedOverrides(headers={"baggage": value}),
                SerializedOverrides(headers_list=[("baggage", value)]),
            )
        ):
            self.starts(A, f"r{number}")
            self.playbook.take()
            self.mine.sends(continue_(f"r{number}", overrides))
            (record,) = [e for e in self.playbook.take() if isinstance(e, RequestContinued)]
            assert record.overrides is not None
            shown = (record.overrides.headers, record.overrides.headers_list)
            self.assertIn(shown, (({"baggage": hidden}, UNSET), (UNSET, [("baggage", hidden)])))

    def test_hop(self) -> None:
        """A hop has the context of its chain; one without a chain its own."""
        self.starts(A)
        self.playbook.take()
        self.agent.sends(report("r1", redirect("/b")))
        self.playbook.take()
        self.agent.sends(observe("r2", "r1"))
        self.assertEqual(self.told()[self.mine.id].test_id, "buys")
        self.agent.sends(structs.replace(observe("r3", None), context=B))
        self.assertEqual(self.told().keys(), {self.theirs.id, self.npm.id})

    def test_late(self) -> None:
        """Late traffic is heard only by those without the feature."""
        self.a.ends()
        self.playbook.take()
        self.starts(A)
        self.assertEqual(self.told().keys(), {self.npm.id})

    def test_subscription_on_the_way(self) -> None:
        """Who subscribes later hears the ends of its own traffic that is on its way."""
        other = self.registered(self.mine, "other")
        self.starts(B)
        self.playbook.take()
        self.mine.sends(inbound.TestSubscribe(other.id))
        self.playbook.take()
        self.agent.sends(report())
        self.assertEqual(self.heard_responses(), {self.theirs.id, self.npm.id})


class AgentTests(SynchronousTestCase):
    """What agents are told."""

    def test_own_hosts(self) -> None:
        """An agent with the feature gets the globs of --own-host, others do not."""
        playbook = Playbook(self, evolve(SETTINGS, own_hosts=(read_host_pattern("*.SHOP.test:*"),)))
        for features, expected in ((["context"], ["*.shop.test"]), (["stream"], UNSET)):
            peer = Peer(playbook, playbook.connect(features[0]).id)
            peer.sends(inbound.Hello(3, "0.1.0", "node", features=features))
            (welcome,) = playbook.take()
            assert isinstance(welcome, Send)
            assert isinstance(welcome.message, outbound.HelloOk)
            self.assertEqual(welcome.message.own_hosts, expected, features)


class BrowserProxyTests(ContextCase):
    """Proxies of tests' own."""

    def registers(self, title: str, context: str | None = UNKNOWN, *origins: str) -> Effects:
        """Register a test that wants a browser proxy; give what that leads to."""
        self.mine.sends(
            inbound.TestRegister(
                title,
                title,
                "f",
                "0",
                UNSET if context is None else context,
                browser_proxy=ApplicationOrigins(list(origins)),
            )
        )
        return self.playbook.take()

    def registered_at(self, title: str) -> outbound.TestRegistered:
        return outbound.TestRegistered(title, self.playbook.now().epoch_ms)

    def test_opened(self) -> None:
        """The test is acknowledged by whoever opens its browser proxy, which has its context."""
        effects = self.registers("browses", UNKNOWN, "http://*.test")
        registered = self.registered_at("browses")
        expected = OpenBrowserProxy(
            self.mine.id, registered, UNKNOWN, ApplicationOrigins(["http://*.test"])
        )
        self.assertEqual(effects, [expected])
        self.assertEqual(self.owner(UNKNOWN), None)

    def test_without_context(self) -> None:
        """There is no browser proxy without a context."""
        effects = self.registers("browses", None)
        self.assertEqual(effects, [self.mine.gets(self.registered_at("browses"))])

    def test_context_in_use(self) -> None:
        """A test that is refused gets none."""
        (refusal,) = self.registers("browses", B)
        assert isinstance(refusal, Send)
        self.assertIsInstance(refusal.message, outbound.ProxyError)

    def test_unmatchable_origin(self) -> None:
        """An origin that no request has is refused, with how to write it."""
        (refusal,) = self.registers("browses", UNKNOWN, "http://shop.test", "shop.test:3000")
        assert isinstance(refusal, Send)
        assert isinstance(refusal.message, outbound.ProxyError)
        self.assertEqual(refusal.message.test_id, "browses")
        self.assertIn("'shop.test:3000'", refusal.message.message)
        self.assertIn("such as http://shop.test:8000", refusal.message.message)
        self.assertNotEqual(self.registers("browses"), [refusal])

    def test_closed(self) -> None:
        """It is closed before the end of the test is acknowledged, and when its worker goes."""
        self.registers("browses")
        self.mine.sends(inbound.TestUnregister("browses"))
        ended = self.mine.gets(outbound.TestUnregistered("browses"))
        self.playbook.expect(CloseBrowserProxy("browses"), ended)
        self.registers("browses")
        self.playbook.disconnect(self.mine.id)
        self.assertIn(CloseBrowserProxy("browses"), self.playbook.take())
