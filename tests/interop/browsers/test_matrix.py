"""Every kind of request of every browser: what is for the application carries the context."""

from collections import Counter
from contextlib import ExitStack

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.interop.browsers.launching import BROWSERS, Browser, browsing
from tests.interop.browsers.sites import HOSTS, KEPT, Sites, Visit, serving
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.node_parts import MissingPartError
from tests.support.processes.proxy_process import NO_PINGS, running_proxy
from tests.support.raw_client import RawClient

CONTEXT = "1" * 32
MEMBER = f"trafficmock.test={CONTEXT}"
OURS = ("trafficmock.test", "trafficmock_test", CONTEXT)
"""What no third party is to see in a header."""
SECONDS = 300
LEAST_STEPS = 45


class Matrix:
    """What is checked of each browser."""

    class Tests(SynchronousTestCase):
        """The parent of the test cases, one for each browser."""

        browser: Browser

        def setUp(self) -> None:
            if missing := self.browser.missing():
                if self.browser.name == "chromium":
                    raise MissingPartError(missing)
                raise SkipTest(missing)

        def visit(self, *, browser_proxy: bool) -> Visit:
            """Let the browser make all requests.

            :param browser_proxy: through that of a test; else directly, or where the browser cannot
                be told the addresses of the hosts, through the service's own forward proxy.
            """
            with ExitStack() as stack:
                sites = stack.enter_context(serving())
                proxy = None
                if browser_proxy or not self.browser.resolves:
                    service, of_test = self.open_browser_proxy(stack, sites)
                    proxy = of_test if browser_proxy else service
                child = stack.enter_context(browsing(self.browser, sites, proxy))
                for _ in range(SECONDS):
                    if sites.visit.ended.wait(1) or not child.running():
                        break
                self.assertTrue(sites.visit.ended.is_set(), child.output())
                return sites.visit

        def open_browser_proxy(self, stack: ExitStack, sites: Sites) -> tuple[int, int]:
            """Register a test; give the ports of the service and of the test's browser proxy."""
            hosts = [
                f"--resolve={host}:{sites.ports[site]}:127.0.0.1" for site, host in HOSTS.items()
            ]
            proxy = stack.enter_context(running_proxy(*hosts, *NO_PINGS))
            worker = RawClient.connect(proxy.url)
            stack.callback(worker.close)
            worker.hello("playwright", workerId="0", features=["context"])
            browser_proxy = {"origins": [sites.origin("app"), sites.origin("api")]}
            test = {"testId": "t", "title": "T", "file": "t", "workerId": "0"}
            worker.send(type="test:register", context=CONTEXT, door=browser_proxy, **test)
            port: int = worker.receive()["doorPort"]
            return int(proxy.url.rpartition(":")[2]), port

        def check_steps(self, visit: Visit) -> None:
            """Every step asked for what it was to ask for, and nothing failed."""
            steps = visit.report["steps"]
            failed = {name: why for name, why in steps.items() if why not in ("", "not supported")}
            self.assertEqual(failed, {})
            self.assertGreaterEqual(sum(why == "" for why in steps.values()), LEAST_STEPS)
            asked = {(site, path) for site, _, path in visit.asked()}
            self.assertEqual({(*each,) for each in visit.report["expected"]} - asked, set())

        def test_browser_proxy(self) -> None:
            """Own requests carry the context, all of them, and third parties see nothing of it.

            Preflights reach the API as often as without the proxy, and what may be kept is asked
            for once.
            """
            direct, visit = self.visit(browser_proxy=False), self.visit(browser_proxy=True)
            self.check_steps(direct)
            self.check_steps(visit)
            without = [each for each in visit.of("app", "api") if MEMBER not in each.baggage()]
            self.assertEqual(without, [])
            third = str(visit.of("third"))
            self.assertEqual([word for word in OURS if word in third], [])
            self.assertNotEqual(direct.preflights(), Counter())
            self.assertEqual(visit.preflights(), direct.preflights())
            self.assertEqual(visit.asked() - direct.asked(), self.only_by_the_proxy)
            self.assertEqual(direct.asked() - visit.asked(), set())
            self.assertEqual((direct.kept(), visit.kept()), (KEPT, KEPT))
            # The proxy is what did it.
            self.assertNotIn(CONTEXT, str(direct.seen))

        only_by_the_proxy: frozenset[tuple[str, str, str]] = frozenset()

        if not DEEP:
            test_browser_proxy.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]


class ChromiumTests(Matrix.Tests):
    """Chromium with a browser context of Playwright; its own requests, too."""

    browser = BROWSERS["chromium"]
    only_by_the_proxy = frozenset({("app", "GET", "/s/page-request")})


class FirefoxTests(Matrix.Tests):
    """Firefox."""

    browser = BROWSERS["firefox"]


class WebkitTests(Matrix.Tests):
    """WebKitGTK."""

    browser = BROWSERS["webkit"]
