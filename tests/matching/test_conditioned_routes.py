"""Requirements on the routes with conditions on more than the URL, as the index has them."""

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.matching.compared_requests import URL, bodies, conditions, content
from tests.support.hypothesis_profiles import profile
from trafficmock.matching.compiled_matcher import compile_matcher
from trafficmock.matching.request_conditions import RequestCondition, compile_condition
from trafficmock.matching.route_index import MatchingRoutes, RouteIndex


class IndexTests(SynchronousTestCase):
    """Many routes with one URL."""

    @profile(200)
    @given(st.lists(st.lists(conditions, min_size=1, max_size=2), max_size=6), bodies)
    def test_one_after_the_other(self, routes: list[list[RequestCondition]], body: bytes) -> None:
        """The index finds what a comparison of each route finds, also while routes come and go."""
        index = RouteIndex()
        matchers = {str(n): compile_matcher(beside=beside) for n, beside in enumerate(routes)}
        for key, matcher in matchers.items():
            index.add(key, matcher, f"owner {key}")
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
                    sorted(owner for group in found.awaiting for owner in group),
                    sorted(f"owner {key}" for key, holds in held.items() if holds is None),
                )
            index.remove(matchers.popitem()[0])
        self.assertEqual(len(index._routes), 0)

    def test_ten_thousand(self) -> None:
        """Only the routes that demand the values of the request are compared."""
        shapes: dict[str, list[RequestCondition]] = {
            "one value": [],
            "a shared value": [compile_condition("json", ["type"], equals="order")],
            "a shared header": [compile_condition("header", ["x-kind"], equals="order")],
            "a shared pattern": [compile_condition("header", ["x-kind"], regex=("^o", ""))],
        }
        for shape, shared in shapes.items():
            index = RouteIndex()
            for n in range(10_000):
                beside = [*shared, compile_condition("json", ["id"], equals=n)]
                index.add(str(n), compile_matcher(beside=beside), "owner")
            headers = {"x-kind": "order"}
            for body, expected in (
                (b'{"type": "order", "id": 77}', MatchingRoutes(["77"], [])),
                (None, MatchingRoutes([], [], [{"owner": 1}.keys()])),
            ):
                holds = RequestCondition.holds
                asked = content(body, **headers)
                with patch.object(
                    RequestCondition, "holds", autospec=True, side_effect=holds
                ) as compared:
                    found = index.judge(URL, "POST", "one", lambda asked=asked: asked)  # type: ignore[misc] # bound
                self.assertEqual(found, expected, shape)
                self.assertLess(compared.call_count, 4, shape)

    def test_without_content(self) -> None:
        """Without the parts beside the URL no such route matches."""
        index = RouteIndex()
        index.add("a", compile_matcher(beside=[compile_condition("query", ["page"])]))
        self.assertEqual(index.judge(URL, "GET", "one").yes, [])
        self.assertEqual(index.judge(URL, "GET", "one", content).yes, ["a"])
