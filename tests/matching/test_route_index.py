"""Requirements on :mod:`trafficmock.matching.route_index`."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.matching.strategies import globs, regex_sources, urls
from tests.support.hypothesis_profiles import profile
from trafficmock.matching import candidates
from trafficmock.matching.compiled_matcher import RouteMatcher, compile_matcher
from trafficmock.matching.patterns.match_result import MatchResult
from trafficmock.matching.route_index import MatchingRoutes, RouteIndex

METHODS = ("GET", "POST", "put")
CLIENTS = ("one", "two")

matchers = st.builds(
    compile_matcher,
    url_glob=st.none() | globs,
    url_regex=st.none() | st.tuples(regex_sources, st.sampled_from(("", "i", "gg", "u"))),
    methods=st.lists(st.sampled_from(METHODS), max_size=2),
    client_ids=st.lists(st.sampled_from(CLIENTS), max_size=2),
    predicate=st.sampled_from((False, False, True)),
)
glob_matchers = st.builds(compile_matcher, url_glob=globs)
requests = st.tuples(urls, st.sampled_from(("GET", "post", "DELETE")), st.sampled_from(CLIENTS))
#: Register a route, remove one of those that are there, or judge a request.
steps = st.one_of(matchers, glob_matchers, st.integers(0, 50), requests)


def naive(routes: dict[str, RouteMatcher], request: tuple[str, str, str]) -> MatchingRoutes:
    """Ask one after the other."""
    results = {key: matcher.judge(*request) for key, matcher in routes.items()}
    return MatchingRoutes(
        [key for key, result in results.items() if result is MatchResult.YES],
        [key for key, result in results.items() if result is MatchResult.UNDECIDABLE],
    )


class RouteIndexTests(SynchronousTestCase):
    """The index says what its routes say, only sooner."""

    def test_registration_order(self) -> None:
        """Answers come in the order of registration, whatever the routes look like."""
        index = RouteIndex()
        index.add("d", compile_matcher(url_glob="**"))
        index.add("p", compile_matcher(predicate=True))
        index.add("c", compile_matcher(url_glob="http://h.test/a", methods=["get"]))
        index.add("q", compile_matcher(url_glob="/a", client_ids=["app"]))
        index.add("b", compile_matcher(url_glob="**", client_ids=["app", "other"]))
        index.add("x", compile_matcher(url_glob="**", methods=["POST"]))
        index.add("a", compile_matcher(url_glob="**"))
        judged = index.judge("http://h.test/a", "get", "app")
        self.assertEqual(judged, MatchingRoutes(["d", "c", "b", "a"], ["p", "q"]))
        self.assertEqual(len(index._routes), 7)

    def test_keys_are_unique(self) -> None:
        """A key cannot be registered twice, and an unknown one cannot be removed."""
        index = RouteIndex()
        index.add("a", compile_matcher())
        self.assertRaises(KeyError, index.add, "a", compile_matcher())
        self.assertRaises(KeyError, index.remove, "b")
        self.assertEqual(index.judge("x", "GET", "c").yes, ["a"])

    def test_impossible_routes(self) -> None:
        """Routes that cannot match can be registered and removed all the same."""
        index = RouteIndex()
        index.add("a", compile_matcher(url_regex=("a", "gg")))
        self.assertEqual(index.judge("a", "GET", "c"), MatchingRoutes([], []))
        index.remove("a")
        self.assertEqual(len(index._routes), 0)

    def test_work_does_not_grow_with_routes(self) -> None:
        """Ten thousand routes leave a request as few to be tried as ten do."""
        index = RouteIndex()
        for number in range(10_000):
            index.add(str(number), compile_matcher(url_glob=f"http://h.test/r/{number}/*"))
        (population,) = index._by_client.values()
        found = list(population.candidates.find("http://h.test/r/4321/x"))
        self.assertLess(len(found), 10)
        self.assertEqual(index.judge("http://h.test/r/4321/x", "GET", "c").yes, ["4321"])

    @profile(100, deep=10)
    @given(st.lists(steps, max_size=60), st.sampled_from((0, 1, 16)))
    def test_same_as_asking_each(
        self, history: list[RouteMatcher | int | tuple[str, str, str]], handful: int
    ) -> None:
        """After any adds and removes the index says what its routes say, in their order."""
        self.patch(candidates, "HANDFUL", handful)
        self.patch(candidates, "FEW", handful // 8)
        index, routes = RouteIndex(), dict[str, RouteMatcher]()
        for number, step in enumerate(history):
            if isinstance(step, RouteMatcher):
                routes[f"r{number}"] = step
                index.add(f"r{number}", step)
            elif isinstance(step, tuple):
                self.assertEqual(index.judge(*step), naive(routes, step))
            elif routes:
                key = list(routes)[step % len(routes)]
                del routes[key]
                index.remove(key)
        for key in routes:
            index.remove(key)
        self.assertEqual((len(index._routes), dict(index._by_client)), (0, {}))

    @profile(20)
    @given(st.lists(glob_matchers, min_size=30, max_size=60), st.lists(requests, min_size=20))
    def test_many_globs(self, many: list[RouteMatcher], asked: list[tuple[str, str, str]]) -> None:
        """No matching glob is ever overlooked among many."""
        self.patch(candidates, "HANDFUL", 0)
        self.patch(candidates, "FEW", 0)
        index, routes = RouteIndex(), dict[str, RouteMatcher]()
        for number, matcher in enumerate(many):
            routes[str(number)] = matcher
            index.add(str(number), matcher)
        for request in asked:
            self.assertEqual(index.judge(*request), naive(routes, request))

    @profile(50)
    @given(st.lists(matchers, max_size=8), requests, urls)
    def test_elsewhere(
        self, routes: list[RouteMatcher], request: tuple[str, str, str], other: str
    ) -> None:
        """Routes that may match another URL as well are left out, and no others."""
        index = RouteIndex()
        for number, matcher in enumerate(routes):
            index.add(str(number), matcher)
        everywhere = index.judge(other, *request[1:])
        out = {*everywhere.yes, *everywhere.undecided}
        found, named = index.judge(*request), index.judge(*request, elsewhere=other)
        self.assertEqual(named.yes, [each for each in found.yes if each not in out])
        self.assertEqual(named.undecided, [each for each in found.undecided if each not in out])
