"""The arguments that match more than the URL."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import json
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.testing.errors import UnknownArgumentError, UsageError
from trafficmock.testing.session.arguments.match_conditions import ValueCheck, read_conditions
from trafficmock.wire.payloads.serialized_matcher import (
    SerializedCondition,
    SerializedMatcher,
    SerializedRegex,
)

NAMES = ("match_query", "match_headers", "match_form", "match_json", "match_graphql")

leaves = st.sampled_from((None, True, 1, 2.5, "a", re.compile("a"), len, b"a", object()))
values: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.tuples(inner, inner)
        | st.dictionaries(st.sampled_from(("a", "", 1)), inner, max_size=2)
    ),
    max_leaves=5,
)


async def wait(value: object) -> bool:
    return bool(value)


class ReadingTests(SynchronousTestCase):
    """What the arguments become on the wire."""

    @profile(300)
    @given(st.dictionaries(st.sampled_from(NAMES), values, max_size=2))
    def test_any_value(self, given: dict[str, Any]) -> None:
        """A value is read or refused, and what was read can be sent."""
        try:
            found, _ = read_conditions(given)
        except UsageError:
            return
        sent = json.encode(SerializedMatcher(conditions=found))
        self.assertEqual(json.decode(sent, type=SerializedMatcher).conditions or [], found)

    def test_json(self) -> None:
        """Each leaf becomes a condition with its path, a list its length too."""
        wanted = {"items": [{"n": 1}], "by": re.compile("@", re.IGNORECASE), "more": {}}
        self.assertEqual(
            read_conditions({"match_json": wanted})[0],
            [
                SerializedCondition("json", ["items"], length=1),
                SerializedCondition("json", ["items", 0, "n"], equals=1),
                SerializedCondition("json", ["by"], matches=SerializedRegex("@", "i")),
                SerializedCondition("json", ["more"], is_object=True),
            ],
        )

    def test_texts(self) -> None:
        """Numbers and truth values of names are texts; ``None`` is for an absent name."""
        self.assertEqual(
            read_conditions({"match_query": {"page": 2, "all": True, "key": None}})[0],
            [
                SerializedCondition("query", ["page"], equals="2"),
                SerializedCondition("query", ["all"], equals="true"),
                SerializedCondition("query", ["key"], is_absent=True),
            ],
        )

    def test_function(self) -> None:
        """The proxy compares that there is a value, and sends it; the function stays here."""
        place = SerializedCondition("json", ["a", 0], has_function=True)
        length = SerializedCondition("json", ["a"], length=1)
        self.assertEqual(
            read_conditions({"match_json": {"a": [len]}}),
            ([length, place], (ValueCheck(place, len),)),
        )

    def test_refused(self) -> None:
        """The error names the place, and what to do."""
        for arguments, said in (
            ({"match_json": {"a": [wait]}}, "match_json['a'][0] must be a plain function"),
            ({"match_json": re.compile("(?<!x)a")}, "cannot compare the pattern"),
            ({"match_json": [[]] * 1001}, "more than 1000"),
            ({"match_form": ["a"]}, "match_form is a dict"),
            ({"match_graphql": ("A", {}, 1)}, "(name, variables)"),
        ):
            self.assertIn(said, str(self.assertRaises(UsageError, read_conditions, arguments)))

    def test_misspelt(self) -> None:
        """An argument that does not exist is refused with a suggestion."""
        error = self.assertRaises(UnknownArgumentError, read_conditions, {"match_jsn": 1})
        self.assertIn("'match_jsn' is unknown; did you mean 'match_json'?", str(error))
