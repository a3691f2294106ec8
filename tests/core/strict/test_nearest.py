"""The text of a refusal: which route is nearest, and what differs."""

from msgspec import UNSET

from tests.core.strict.case import URL, B, StrictCase
from tests.support.builders import claims, fall_back, glob, predicate
from trafficmock.core.ownership.differences import MOST_COMPARED
from trafficmock.matching.allow_list import AllowList
from trafficmock.wire import inbound
from trafficmock.wire.payloads.serialized_matcher import (
    SerializedCondition,
    SerializedMatcher,
    SerializedRegex,
)

POST_ONLY = ["POST"]
WITHOUT_CHAIN = ("context", "strict", "subscribe")
"""The features of a worker that compares globs by itself."""


def matcher(
    url: str | None = None, *, methods: list[str] | None = None, clients: list[str] | None = None
) -> SerializedMatcher:
    return SerializedMatcher(
        url_glob=url or UNSET, methods=methods or UNSET, client_ids=clients or UNSET
    )


DIFFERENCES: tuple[tuple[str, SerializedMatcher, str, str, str], ...] = (
    (
        "method",
        matcher(URL, methods=["GET"]),
        "route GET \"https://api.test/v1/charges\": method differs ('POST', not 'GET')",
        "method",
        "POST",
    ),
    (
        "client",
        matcher("**/v1/charges", clients=["other"]),
        "route \"**/v1/charges\": client differs ('shop', not 'other')",
        "client",
        "shop",
    ),
    (
        "scheme",
        matcher("http://api.test:443/v1/charges"),
        (
            "route \"http://api.test:443/v1/charges\": scheme differs ('https', not 'http'); "
            "port differs ('', not '443')"
        ),
        "scheme",
        "https",
    ),
    (
        "host",
        matcher("https://*.example/v1/charges"),
        "route \"https://*.example/v1/charges\": host differs ('api.test', not '*.example')",
        "host",
        "api.test",
    ),
    (
        "port",
        matcher("https://api.test:8443/**"),
        "route \"https://api.test:8443/**\": port differs ('443', not '8443')",
        "port",
        "443",
    ),
    (
        "all that differs",
        matcher("https://api.test/v1/charge", methods=["PUT"]),
        (
            "route PUT \"https://api.test/v1/charge\": method differs ('POST', not 'PUT'); "
            "path differs ('/v1/charges', not '/v1/charge')"
        ),
        "method",
        "POST",
    ),
    (
        "path",
        matcher("**/v1/charge"),
        "route \"**/v1/charge\": path differs ('/v1/charges', not '**/v1/charge')",
        "path",
        "/v1/charges",
    ),
    (
        "query",
        matcher("**/v1/charges?expand=1"),
        "route \"**/v1/charges?expand=1\": query differs ('', not '?expand=1')",
        "query",
        "",
    ),
    (
        "regex",
        SerializedMatcher(url_regex=SerializedRegex("/v2/", "i")),
        "route /\\/v2\\//i: the pattern does not match".replace("\\/", "/"),
        "url",
        URL,
    ),
)


class NearestTests(StrictCase):
    """One row for each part in which a request can differ."""

    def test_parts(self) -> None:
        """The text names the route and the part, and the detail says the same."""
        for name, wanted, text, differs, found in DIFFERENCES:
            self.begin()
            self.registers()
            self.routes(wanted)
            effects = self.asks()
            nearest = self.detail(effects).nearest
            assert nearest is not UNSET
            self.assertEqual(
                self.refused(effects),
                f"POST {URL} is not mocked, and strict mode allows nothing. "
                f"Nearest: {text}. Add a route, or allow api.test.",
                name,
            )
            self.assertEqual((nearest.differs, nearest.found), (differs, found), name)
            self.assertEqual((nearest.route_id, nearest.test_id), ("q1", "buys"))
            self.assertEqual(nearest.matcher, wanted)

    def test_conditions_that_hold(self) -> None:
        """Of routes with as many differences, the one of which more conditions hold is nearer."""
        self.registers()
        first = [SerializedCondition("query", ["a"], equals="1")]
        other = SerializedCondition("query", ["b"], equals="2")
        self.routes(SerializedMatcher(url_glob="**/v1/*", conditions=[*first, other]))
        wrong = SerializedCondition("query", ["a"], equals="7")
        self.routes(SerializedMatcher(url_glob="**/v1/*", conditions=[wrong]), "q2")
        effects = self.asks(url="https://api.test/v1/charges?a=1")
        nearest = self.detail(effects).nearest
        assert nearest is not UNSET
        self.assertEqual(nearest.route_id, "q1")

    def test_predicate(self) -> None:
        """A predicate is asked, and says no."""
        self.registers()
        self.routes(predicate("**/v1/*"))
        self.asks()
        self.worker.sends(claims("r1", "buys"))
        effects = self.playbook.take()
        self.assertIn('Nearest: route "**/v1/*": its predicate said no.', self.refused(effects))
        nearest = self.detail(effects).nearest
        assert nearest is not UNSET
        self.assertEqual((nearest.differs, nearest.found), ("predicate", UNSET))

    def test_relative_url(self) -> None:
        """What differs is named also where only the worker knows the base URL."""
        self.registers()
        self.routes("/v2/charges")
        self.asks()
        self.worker.sends(claims("r1", "buys"))
        self.assertIn("path differs ('/v1/charges', not", self.refused(self.playbook.take()))

    def test_handler(self) -> None:
        """A handler that gives the request back had the route that matches."""
        self.registers()
        self.routes("**/v1/*")
        self.asks()
        self.worker.sends(fall_back("r1"))
        effects = self.playbook.take()
        self.assertIn("its handler gave the request back", self.refused(effects))

    def test_of_an_ended_test(self) -> None:
        """Of a request of a test that has ended, the routes of those that run say nothing."""
        self.begin(strict=AllowList(()))
        self.registers()
        self.registers("sells", context=B, worker=self.other)
        self.routes("**/v1/charge", "s1", test_id="sells", worker=self.other)
        self.worker.sends(inbound.TestUnregister("buys"))
        self.playbook.take()
        text = self.refused(self.asks())
        self.assertIn('It was made for the test "buys", which has ended.', text)
        self.assertNotIn("Nearest", text)

    def test_no_route(self) -> None:
        """Without a route there is none to name."""
        self.registers(allow=["auth.example"])
        effects = self.asks()
        self.assertEqual(
            self.refused(effects),
            f"POST {URL} is not mocked, and strict mode allows only auth.example. "
            "Add a route, or allow api.test.",
        )
        detail = self.detail(effects)
        self.assertIs(detail.nearest, UNSET)
        self.assertEqual(
            (detail.request_id, detail.kind, detail.method, detail.url, detail.client_id),
            ("r1", "http", "POST", URL, "shop"),
        )
        self.assertEqual(detail.allow, ["auth.example"])

    def test_place(self) -> None:
        """The place of a route is named where the worker tells it."""
        self.registers()
        self.routes("**/v1/charge", place="shop_test.py:12")
        effects = self.asks()
        self.assertIn('Nearest: route "**/v1/charge" (shop_test.py:12): ', self.refused(effects))
        nearest = self.detail(effects).nearest
        assert nearest is not UNSET
        self.assertEqual(nearest.place, "shop_test.py:12")

    def test_nearest_of_several(self) -> None:
        """The route with the fewest differences counts, then the one with the likeliest path."""
        self.registers()
        for number, each in enumerate(
            ("http://other.test/**", "**/v1/charge", "**/v1/refunds", "https://api.example/v1/**")
        ):
            self.routes(each, f"q{number}")
        self.assertIn('Nearest: route "**/v1/charge"', self.refused(self.asks()))

    def test_only_its_own(self) -> None:
        """Routes of other tests and of the other kind are not compared; shared ones are."""
        self.registers()
        self.registers("sells", context="b" * 32, worker=self.other)
        self.routes(URL, "q1", test_id="sells", worker=self.other)
        self.routes(URL, "q2", kind="websocket")
        self.assertNotIn("Nearest", self.refused(self.asks()))
        self.registers("all", context=None, shared=True, allow=None)
        self.routes("**/v1/charge", "q3", test_id="all")
        self.assertIn('Nearest: route "**/v1/charge"', self.refused(self.asks(request_id="r2")))

    def test_newest_routes(self) -> None:
        """Only so many routes are compared, the newest ones."""
        self.registers()
        self.routes("**/v1/charge", "near")
        for number in range(MOST_COMPARED):
            self.routes(f"http://other.test/{number}", f"q{number}")
        self.assertIn('Nearest: route "http://other.test/', self.refused(self.asks()))

    def test_secrets(self) -> None:
        """User name and password are not shown; a long URL is cut."""
        self.registers()
        effects = self.asks("https://me:secret@api.test/" + "x/" * 1500)
        self.assertNotIn("secret", self.refused(effects))
        detail = self.detail(effects)
        self.assertTrue(detail.url.startswith("https://api.test/x"), detail.url)
        self.assertEqual(len(detail.url), 2000)

    def test_secret_in_the_query(self) -> None:
        """A query that differs is shown without the values that are secret by their names."""
        self.registers()
        self.routes("**/v1/charges?expand=1")
        effects = self.asks(f"{URL}?token=secret")
        self.assertIn("query differs", self.refused(effects))
        nearest = self.detail(effects).nearest
        assert nearest is not UNSET and nearest.found is not UNSET
        self.assertTrue(nearest.found.startswith("?token="), nearest.found)
        self.assertNotIn("secret", f"{self.refused(effects)} {nearest.found}")

    def test_url_that_cannot_be_read(self) -> None:
        """What is no URL is refused, too."""
        self.registers(allow=["*"])
        self.routes("**/v1/charge")
        text = self.refused(self.asks("http://[zz]/"))
        self.assertIn("POST http://[zz]/ is not mocked, and strict mode allows only *.", text)
        self.assertTrue(text.endswith(" Add a route."), text)

    def test_many_patterns(self) -> None:
        """A long allow list is not written out."""
        self.registers(allow=[f"h{number}.test" for number in range(7)])
        text = self.refused(self.asks())
        self.assertIn("allows only h0.test, h1.test, h2.test, h3.test, h4.test and 2 more.", text)

    def test_port_in_the_remedy(self) -> None:
        """What is to be allowed is the host, with its port where that is not the usual one."""
        self.registers()
        self.assertIn(
            "or allow [fd00::1]:8443.", self.refused(self.asks("https://[fd00::1]:8443/"))
        )
        self.assertIn("or allow h.test.", self.refused(self.asks("http://h.test/", request_id="2")))

    def test_websocket(self) -> None:
        """A WebSocket is refused in the same words."""
        self.registers()
        self.routes("wss://api.test/streams", kind="websocket")
        effects = self.opens("wss://api.test/stream")
        self.assertEqual(
            self.refused(effects),
            "The WebSocket wss://api.test/stream is not mocked, and strict mode allows nothing. "
            "Nearest: route \"wss://api.test/streams\": path differs ('/stream', not '/streams'). "
            "Add a route, or allow api.test.",
        )
        self.assertEqual(self.detail(effects).kind, "websocket")

    def test_bad_glob(self) -> None:
        """A glob that cannot be read is no obstacle."""
        self.worker = self.playbook.worker("2", features=WITHOUT_CHAIN)
        self.registers()
        self.routes(glob("**/{a"))
        self.asks()
        self.worker.sends(claims("r1", "buys"))
        self.assertIn("its predicate said no", self.refused(self.playbook.take()))
