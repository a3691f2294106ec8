"""Conditions and requests that Hypothesis makes."""

import json
from typing import Any

from hypothesis import strategies as st

from tests.support.playbook import REDACTOR
from trafficmock.matching.request_conditions import RequestCondition, compile_condition
from trafficmock.matching.request_content import RequestContent
from trafficmock.redaction.redactor import Redactor

URL = "http://h.test/a?page=2&tag=a&tag=b"
PARTS = ("query", "header", "form", "json", "operation", "variables")

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(("", "a", "b", "2")),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=6,
)
steps = st.sampled_from(("a", "b", "page", "tag", "query", 0, 1))
tests: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(lambda value: {"equals": value}, st.sampled_from((None, True, 1, 0, 2.5, "", "a"))),
    st.sampled_from(
        (
            {},
            {"regex": ("a|2", "i")},
            {"regex": ("(?<!x)a", "")},
            {"length": 2},
            {"is_object": True},
            {"is_absent": True},
        )
    ),
)
conditions = st.builds(
    lambda part, path, test: compile_condition(part, path, **test),
    st.sampled_from(PARTS),
    st.lists(steps, max_size=3),
    tests,
)
bodies = st.one_of(
    st.binary(max_size=20),
    values.map(lambda value: json.dumps(value).encode()),
    st.sampled_from((b"a=1&b=2", b"a=%ff&a", b'{"query":"query a { b }","variables":{"a":[1]}}')),
)


def content(body: bytes | None = b"", url: str = URL, **headers: str) -> RequestContent:
    return RequestContent(url, list(headers.items()), None if body is None else lambda: body)


def said(
    condition: RequestCondition, asked: RequestContent, redactor: Redactor = REDACTOR
) -> str | None:
    text = condition.difference(asked)
    return None if text is None else redactor.written(text)
