"""Requirements on the conditions of routes on more than the URL."""

import json
import sys
import tracemalloc

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
from trafficmock.matching.request_content import RequestContent
from trafficmock.redaction.redactor import Redactor


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

        key = compile_condition("header", ["X-API-Key"], equals="other")
        self.assertEqual(
            said(key, content(b"", URL, **{"x-api-key": "s3cret"})), "header x-api-key differs"
        )
        password = compile_condition("json", ["user", "password", 0], equals="other")
        text = said(password, content(b'{"user": {"password": ["s3cret"]}}'))
        self.assertEqual(text, "json.user.password[0] differs")
        missing = compile_condition("form", ["code"], equals="s3cret")
        self.assertEqual(said(missing, content(b"{}")), "form.code is missing")
        typed = RequestContent(
            "http://h/", [("Content-Type", "application/json; charset=utf-8")], lambda: b"{}"
        )
        text = "form.code is missing (the body is application/json)"
        self.assertEqual(said(missing, typed), text)
        nested = compile_condition("json", ["user"], equals="other")
        text = said(nested, content(b'{"user": {"password": "s3cret"}}')) or ""
        self.assertNotIn("s3cret", text)

    def test_added_secrets(self) -> None:
        """Neither is that of a field that a user has added."""
        words = ["json:variables.email", "json:**.iban", "header:X-Customer", "query:shop"]
        redactor = Redactor.of([*words, "form:pay"])
        body = b'{"variables": {"email": "s3cret"}, "a": [{"iban": "s3cret"}]}'
        asked = content(body, f"{URL.partition('?')[0]}?shop=s3cret", **{"x-customer": "s3cret"})
        for part, path in (
            ("variables", ["email"]),
            ("json", ["variables", "email"]),
            ("json", ["a", 0, "iban"]),
            ("header", ["x-customer"]),
            ("query", ["shop"]),
        ):
            condition = compile_condition(part, path, equals="other")  # type: ignore[arg-type]
            self.assertRegex(said(condition, asked, redactor) or "", "differs$")
        form = {"content-type": "application/x-www-form-urlencoded"}
        paid = compile_condition("form", ["pay"], equals="other")
        text = said(paid, content(b"pay=s3cret", URL, **form), redactor)
        self.assertEqual(text, "form.pay differs")

    def test_large_values(self) -> None:
        """Of what a request has instead only the beginning is looked at, however deep or long."""
        wanted = compile_condition("json", ["a"], equals="z")
        for value in ("x" * 10**6, ["x" * 10**6], {"k" * 10**6: 1}, [[1]] * 10**5):
            asked = content(json.dumps({"a": value}).encode())
            asked.values("json", [])
            tracemalloc.start()
            text = str(said(wanted, asked))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            self.assertLess(peak, 100_000)
            self.assertRegex(text, r"^json\.a is .{100}…, wanted \"z\"$")
        for depth in range(100, sys.getrecursionlimit(), 20):
            deep = b'{"a": ' + b"[" * depth + b"]" * depth + b"}"
            self.assertTrue(said(wanted, content(deep)))
        many = compile_condition("query", ["tag"], equals="z")
        asked = content(url="http://h.test/?" + "tag=a&" * 9)
        self.assertIn(', "a" and 4 more, wanted "z"', str(said(many, asked)))

    def test_pattern_that_is_not_for_the_proxy(self) -> None:
        """Nothing meets it, and the reason says so."""
        odd = compile_condition("header", ["a"], regex=("(?<!x)a", ""))
        self.assertEqual(said(odd, content(a="a")), "header a: the proxy cannot compare /(?<!x)a/")
