"""Strict mode, and routes with conditions on more than the URL."""

from msgspec import structs

from tests.core.strict.case import URL, StrictCase
from tests.support.builders import glob
from trafficmock.wire.payloads.serialized_matcher import SerializedCondition


class ConditionTests(StrictCase):
    """Which part of a refused request differs."""

    def test_nearest(self) -> None:
        """The error names the field of the nearest route."""
        self.registers()
        for number, (condition, said) in enumerate(
            (
                (
                    SerializedCondition("header", ["X-Key"], equals="1"),
                    'header x-key is missing, wanted "1"',
                ),
                (SerializedCondition("json", ["a"]), "json.a: there is no body"),
                (SerializedCondition("query", ["q"]), "query.q is missing, wanted any value"),
            )
        ):
            self.routes(structs.replace(glob(URL), conditions=[condition]), f"route {number}")
            self.assertIn(said, self.refused(self.asks(request_id=f"r{number}")))
