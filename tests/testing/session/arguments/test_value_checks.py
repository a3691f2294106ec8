"""The functions in the place of values, and where they find the values."""

from functools import partial
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments.match_conditions import read_conditions
from trafficmock.testing.session.arguments.value_checks import all_met
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedRequest


def request(content: bytes = b"", **headers: str) -> SerializedRequest:
    url = "https://shop.test/orders?tag=a&tag=bcd"
    return SerializedRequest(url, "POST", headers, body.from_bytes(content))


class ValueCheckTests(SynchronousTestCase):
    """Each part of a request has its values."""

    def assert_asked(self, found: SerializedRequest, values: list[Any], **match: Any) -> None:
        asked: list[Any] = []

        def ask(value: Any) -> bool:
            asked.append(value)
            return False

        place = {name: wanted(ask) for name, wanted in match.items()}
        _, checks = read_conditions(place)
        self.assertFalse(all_met(checks, found))
        self.assertEqual(asked, values)

    def test_places(self) -> None:
        """The function gets each value of a name, or the one of its place."""
        order = request(b'{"lines": [{"n": 2}], "note": null}')
        self.assert_asked(order, ["a", "bcd"], match_query=lambda ask: {"tag": ask})
        self.assert_asked(order, ["bcd"], match_query=lambda ask: {"tag": ["a", ask]})
        self.assert_asked(order, [{"n": 2}], match_json=lambda ask: {"lines": [ask]})
        self.assert_asked(order, [None], match_json=lambda ask: {"note": ask})
        self.assert_asked(order, [], match_json=lambda ask: {"other": ask})
        keyed = request(b"city=Bern", **{"idempotency-key": "7"})
        self.assert_asked(keyed, ["7"], match_headers=lambda ask: {"Idempotency-Key": ask})
        self.assert_asked(keyed, ["Bern"], match_form=lambda ask: {"city": ask})
        self.assert_asked(keyed, [], match_json=lambda ask: {"city": ask})

    def test_all(self) -> None:
        """All functions must accept a value."""
        _, checks = read_conditions({"match_query": {"tag": lambda tag: len(tag) > 1}})
        self.assertTrue(all_met(checks, request()))
        _, more = read_conditions({"match_json": {"n": lambda n: n > 1}})
        self.assertTrue(all_met((*checks, *more), request(b'{"n": 2}')))
        self.assertFalse(all_met((*checks, *more), request(b'{"n": 1}')))

    def test_awaitable(self) -> None:
        """What must be awaited is no answer: it would be true for each value."""

        async def reject(value: Any) -> bool:
            return value is None

        for test in (lambda value: reject([value]), partial(lambda _, value: reject(value), None)):
            _, checks = read_conditions({"match_json": {"n": test}})
            error = self.assertRaises(UsageError, all_met, checks, request(b'{"n": 1}'))
            self.assertIn("nothing to be awaited", str(error))
