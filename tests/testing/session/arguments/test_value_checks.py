"""The functions in the place of values, which get the values that the proxy sends."""

from functools import partial
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments.match_conditions import read_conditions
from trafficmock.testing.session.arguments.value_checks import all_met
from trafficmock.wire.payloads.serialized_matcher import PlacedValues


class ValueCheckTests(SynchronousTestCase):
    """Functions are called with the values of their places."""

    def test_all(self) -> None:
        """All functions must accept a value; of a name that repeats any."""
        _, tags = read_conditions({"match_query": {"tag": lambda tag: len(tag) > 1}})
        _, lines = read_conditions({"match_json": {"lines": [lambda line: line["n"] > 1]}})
        tag = PlacedValues("query", ["tag"], ["a", "bcd"])
        for count, is_met in ((1, False), (2, True)):
            line = PlacedValues("json", ["lines", 0], [{"n": count}])
            self.assertIs(all_met((*tags, *lines), [line, tag]), is_met)

    def test_none(self) -> None:
        """Without functions everything is met."""
        self.assertTrue(all_met((), ()))

    def test_awaitable(self) -> None:
        """What must be awaited is no answer: it would be true for each value."""

        async def reject(value: Any) -> bool:
            return value is None

        found = [PlacedValues("json", ["n"], [1])]
        for test in (lambda value: reject([value]), partial(lambda _, value: reject(value), None)):
            _, checks = read_conditions({"match_json": {"n": test}})
            error = self.assertRaises(UsageError, all_met, checks, found)
            self.assertIn("nothing to be awaited", str(error))
