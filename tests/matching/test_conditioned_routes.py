"""Requirements on the routes with conditions on more than the URL, as the index has them."""

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.matching.compared_requests import URL, bodies, conditions, content
from tests.support.hypothesis_profiles import profile
from trafficmock.matching.compiled_matcher import compile_matcher
from trafficmock.matching.request_conditions import (
    RequestCondition,
    RequestConditions,
    compile_condition,
)
from trafficmock.matching.route_index import RouteIndex


class IndexTests(SynchronousTestCase):
    """Many routes with one URL."""

    @profile(200)
    @given(st.lists(st.lists(conditions, min_size=1, max_size=2), max_size=6), bodies)
    def test_one_after_the_other(self, routes: list[list[RequestCondition]], body: bytes) -> None:
        """The index finds what a comparison of each route finds, also while routes come and go."""
        index = RouteIndex()
        matchers = {str(n): compile_matcher(beside=beside) for n, beside in enumerate(routes)}
        for key, matcher in matchers.items():
            index.add(key, matcher)
        while matchers:
            for asked in (content(body), content(None)):
                found = index.judge(URL, "POST", "one", lambda asked=asked: asked)  # type: ignore[misc] # bound
                held = {
                    key: matcher.beside.hold(asked)
                    for key, matcher in matchers.items()
                    if matcher.beside is not None
                }
                self.assertEqual(found.yes, [key for key, holds in held.items() if holds])
                self.assertEqual(
                    found.awaiting, [key for key, holds in held.items() if holds is None]
                )
            index.remove(matchers.popitem()[0])
        self.assertEqual(len(index), 0)

    def test_ten_thousand(self) -> None:
        """Only the routes that demand a value of the request are compared."""
        index = RouteIndex()
        for n in range(10_000):
            beside = [compile_condition("json", ["id"], equals=n)]
            index.add(str(n), compile_matcher(url_glob="http://h.test/**", beside=beside))
        asked = content(b'{"id": 77}')
        hold = RequestConditions.hold
        with patch.object(RequestConditions, "hold", autospec=True, side_effect=hold) as compared:
            found = index.judge(URL, "POST", "one", lambda: asked)
        self.assertEqual((found.yes, compared.call_count), (["77"], 1))

    def test_without_content(self) -> None:
        """Without the parts beside the URL no such route matches."""
        index = RouteIndex()
        index.add("a", compile_matcher(beside=[compile_condition("query", ["page"])]))
        self.assertEqual(index.judge(URL, "GET", "one").yes, [])
        self.assertEqual(index.judge(URL, "GET", "one", content).yes, ["a"])
