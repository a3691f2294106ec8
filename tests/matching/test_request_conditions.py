"""Requirements on the conditions of routes on more than the URL."""

import json

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.matching.compared_requests import URL, bodies, conditions, content, said
from tests.support.hypothesis_profiles import profile
from trafficmock.matching.request_conditions import (
    RequestCondition,
    RequestConditions,
    compile_condition,
)


class ConditionTests(SynchronousTestCase):
    """One condition, or several of one route."""

    @profile(300)
    @given(st.lists(conditions, max_size=3), bodies, st.sampled_from((URL, "x", "http://[", "")))
    def test_any_input(self, given: list[RequestCondition], body: bytes, url: str) -> None:
        """No condition and no body raises, and a request that fails has a reason."""
        together = RequestConditions.of(given)
        for asked in (content(body, url), content(None, url)):
            holds, differences = together.hold(asked), list(together.differences(asked))
            self.assertEqual(holds is False, bool(differences), (holds, differences))

    def test_texts(self) -> None:
        """A reason has the place, and what was found and wanted there."""
        quantity = compile_condition("json", ["items", 0, "quantity"], equals=2)
        body = json.dumps({"items": [{"quantity": 3}]}).encode()
        self.assertEqual(said(quantity, content(body)), "json.items[0].quantity is 3, wanted 2")
        tags = compile_condition("query", ["tag"], length=1)
        self.assertEqual(said(tags, content()), 'query.tag is "a", "b", wanted 1 items')
        short = compile_condition("json", ["items"], length=2)
        self.assertEqual(
            said(short, content(b'{"items":[1]}')), "json.items is [1], wanted 2 items"
        )
        named = compile_condition("operation", [], regex=("^Get", ""))
        text = said(named, content(b'{"operationName":"Add"}'))
        self.assertEqual(text, 'the GraphQL operation is "Add", wanted /^Get/')

    def test_secrets(self) -> None:
        """The value of a header with credentials is not shown."""
        token = compile_condition("header", ["Authorization"], equals="Bearer other")
        self.assertEqual(
            said(token, content(authorization="Bearer s3cret")), "header authorization differs"
        )

    def test_pattern_that_is_not_for_the_proxy(self) -> None:
        """Nothing meets it, and the reason says so."""
        odd = compile_condition("header", ["a"], regex=("(?<!x)a", ""))
        self.assertEqual(said(odd, content(a="a")), "header a: the proxy cannot compare /(?<!x)a/")
