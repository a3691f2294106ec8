"""Which test gets a proxied request that carries a context."""

import re

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport, ForwardProxyHarness, fulfilled
from tests.proxy.websocket.harness import OPEN
from tests.server.fakes import FakeLink

ONE, TWO, NOBODY = "1" * 32, "2" * 32, "3" * 32
SPAN = "b7ad6b7169203331"
CARRIERS = (
    "Baggage: a=b,trafficmock.test={}",
    "Cookie: c=d; trafficmock_test={}",
    f"Traceparent: 00-{{}}-{SPAN}-01",
)


def ask(line: str = "", url: str = "http://api.test/x") -> bytes:
    more = f"{line}\r\n" if line else ""
    return f"GET {url} HTTP/1.1\r\nHost: x\r\n{more}\r\n".encode()


class ContextCase(SynchronousTestCase):
    """Two tests of two workers, which mock the same URLs."""

    def setUp(self) -> None:
        self.rig = ForwardProxyHarness()
        self.workers = {ONE: self.worker(ONE), TWO: self.worker(TWO)}

    def worker(self, context: str) -> FakeLink:
        core = self.rig.core
        link = core.hello("playwright", workerId=context, features=["context"])
        test = {"testId": context, "title": "T", "file": "t", "workerId": context}
        core.send_message(link, "test:register", context=context, **test)
        for kind, glob in (("http", "http://api.test/**"), ("websocket", "ws://api.test/**")):
            core.send_message(
                link,
                "route:register",
                routeId=f"{context} {kind}",
                testId=context,
                matcher={"urlGlob": glob},
                kind=kind,
            )
        link.took("test:registered", "route:registered", "route:registered")
        return link

    def matched(self, context: str, type_: str = "request:matched") -> bool:
        """Tell whether the test with this context got something."""
        return type_ in [message["type"] for message in self.workers[context].sent]


class OwnershipTests(ContextCase):
    """The context decides, whatever carries it."""

    def test_carriers(self) -> None:
        """Each test answers the requests that carry its context."""
        for carrier in CARRIERS:
            for context in (TWO, ONE):
                self.setUp()
                client = self.rig.ask(ask(carrier.format(context)))
                other = ONE if context == TWO else TWO
                self.assertEqual((self.matched(context), self.matched(other)), (True, False))
                response = fulfilled(context)
                self.rig.decide(self.workers[context], "fulfill", response=response)
                self.assertTrue(client.took().endswith(context.encode()), carrier)

    def test_none(self) -> None:
        """Without a context, or with one that nobody has, both tests want it, as ever."""
        for line in ("", *(carrier.format(NOBODY) for carrier in CARRIERS)):
            self.assertIn(b"ambiguous_route", self.rig.ask(ask(line)).took(), line)

    def test_passed_through(self) -> None:
        """The history names the test of what nobody mocks, and never its context."""
        self.rig.ask(ask(CARRIERS[0].format(ONE), "http://other.test/"))
        self.assertEqual(len(self.rig.servers), 1)
        self.assertNotIn(f"trafficmock.test={ONE}", str(self.rig.entries()))

    def test_websocket(self) -> None:
        """WebSockets likewise."""
        for carrier in CARRIERS:
            self.setUp()
            line = carrier.format(TWO).encode()
            self.rig.ask(OPEN.replace(b"\r\n\r\n", b"\r\n%s\r\n\r\n" % line))
            found = [self.matched(context, "ws:claim") for context in (ONE, TWO)]
            self.assertEqual(found, [False, True], carrier)

    def test_behind_connect(self) -> None:
        """What is said in the tunnel counts, request by request."""
        client = self.rig.ask(b"CONNECT api.test:80 HTTP/1.1\r\nHost: api.test\r\n\r\n")
        for context in (ONE, TWO):
            client.sends(ask(CARRIERS[1].format(context), "/x"))
            self.assertTrue(self.matched(context))
            self.rig.decide(self.workers[context], "fulfill", response=fulfilled(context))


class RedirectTests(ContextCase):
    """Redirects are linked within a context."""

    def redirect(self, context: str, carrier: str) -> FakeTransport:
        """Ask for what redirects to one URL for all."""
        client = self.rig.ask(ask(carrier.format(context), "http://other.test/a"))
        self.rig.servers[-1].sends(b"HTTP/1.1 302 x\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
        return client

    def follow(self, client: FakeTransport, context: str, carrier: str) -> str | None:
        """Ask for that URL; give the request that the history names as its redirect."""
        client.sends(ask(carrier.format(context), "http://other.test/b"))
        prior: str | None = self.rig.entries()[-1].get("redirectedFromId")
        return prior

    def test_two_tests(self) -> None:
        """Each goes on from its own request, by any carrier."""
        for carrier in CARRIERS:
            self.setUp()
            one, two = self.redirect(ONE, carrier), self.redirect(TWO, carrier)
            first, second = (entry["id"] for entry in self.rig.entries())
            self.assertEqual(self.follow(one, ONE, carrier), first)
            self.assertEqual(self.follow(two, TWO, carrier), second)

    def test_foreign_traces(self) -> None:
        """Traces that are nobody's context do not part a request from its redirect."""
        client = self.redirect(NOBODY, CARRIERS[2])
        (first,) = (entry["id"] for entry in self.rig.entries())
        self.assertEqual(self.follow(client, "4" * 32, CARRIERS[2]), first)


TRACED = (
    f"Traceparent: 00-{ONE}-{SPAN}-01\r\nb3: {ONE}-{SPAN}-1\r\nBaggage: trafficmock.test={ONE},a=b"
)
"""What an application with a tracer sends, of which the trace is that of a test."""


class TraceTests(ContextCase):
    """A context that is the id of a trace, too."""

    def sent(self) -> str:
        return self.rig.servers[-1].took().decode()

    def assert_concealed(self, text: str) -> str:
        """See that the id is not in it, and that all headers have the same one in its place."""
        self.assertNotIn(ONE, text)
        found = set(re.findall(r"\b[0-9a-f]{32}\b", text))
        self.assertEqual(len(found), 1, text)
        trace: str = found.pop()
        return trace

    def test_leaving(self) -> None:
        """Others get another trace id, always the same one; hosts under test get the true one."""
        found = set()
        for line in (CARRIERS[2].format(ONE), TRACED, TRACED):
            self.rig.ask(ask(line, "http://other.test/"))
            found.add(self.assert_concealed(self.sent()))
        opening = OPEN.replace(b"api.test", b"other.test").removesuffix(b"\r\n")
        self.rig.ask(opening + f"{TRACED}\r\n\r\n".encode())
        found.add(self.assert_concealed(self.sent()))
        self.assertEqual(len(found), 1)
        self.rig.ask(ask(TRACED, "http://backend/"))
        self.assertIn(TRACED, self.sent())

    def test_seen(self) -> None:
        """Tests and the history have the other id; what a test sends on has the true one again."""
        self.rig.core.send_message(
            self.workers[ONE],
            "route:register",
            routeId="backend",
            testId=ONE,
            matcher={"urlGlob": "http://backend/"},
            kind="http",
        )
        for url, is_under_test in (("http://backend/", True), ("http://api.test/x", False)):
            self.rig.ask(ask(TRACED, url))
            (matched,) = [
                each for each in self.workers[ONE].sent if each["type"] == "request:matched"
            ]
            headers = matched["request"]["headers"]
            other = self.assert_concealed(str(headers))
            self.rig.decide(self.workers[ONE], "continue", overrides={"headers": headers})
            sent = self.sent()
            if is_under_test:
                self.assertIn(f"traceparent: 00-{ONE}-{SPAN}-01\r\nb3: {ONE}-{SPAN}-1\r\n", sent)
            else:
                self.assertEqual(self.assert_concealed(sent), other)
        self.assert_concealed(str([entry["request"]["headers"] for entry in self.rig.entries()]))

    def test_foreign(self) -> None:
        """The id of a trace that is no test's context stays."""
        line = CARRIERS[2].format(NOBODY)
        self.rig.ask(ask(line, "http://other.test/"))
        self.assertIn(line, self.sent())
        self.assertIn(NOBODY, str(self.rig.entries()))
