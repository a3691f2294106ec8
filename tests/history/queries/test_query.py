"""The exact filters."""

from typing import Any

from attrs import frozen
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.history.query import Query


@frozen
class Row:
    """What the filters look at."""

    timestamp: int = 100
    client_id: str = "app"
    test_id: object = "t"
    action: str = "fulfill"
    method: str = "POST"
    status: int | None = 404
    late: bool = False
    revision: int = 7


def row(**values: Any) -> Any:
    return Row(**values)


class QueryTests(SynchronousTestCase):
    """Which entries a query lets through."""

    def test_filters(self) -> None:
        """Each filter is exact, ids are case-sensitive, and both ends of time are inclusive."""
        for query, expected in [
            (Query(), True),
            (Query(from_=100), True),
            (Query(from_=101), False),
            (Query(from_=100.5), False),
            (Query(to=100), True),
            (Query(to=99), False),
            (Query(test_id="t"), True),
            (Query(test_id="T"), False),
            (Query(test_id=""), False),
            (Query(client_id="app"), True),
            (Query(client_id="ap"), False),
            (Query(action="fulfill"), True),
            (Query(action="abort"), False),
            (Query(method="POST"), True),
            (Query(method="post"), False),
            (Query(status=range(404, 405)), True),
            (Query(status=range(400, 500)), True),
            (Query(status=range(500, 600)), False),
            (Query(after=6), True),
            (Query(after=7), False),
            (Query(from_=0, to=200, test_id="t", client_id="app", action="fulfill"), True),
            (Query(from_=0, to=200, test_id="t", client_id="app", action="abort"), False),
        ]:
            with self.subTest(str(query)):
                self.assertEqual(query.accepts(row()), expected)

    def test_unowned(self) -> None:
        """An entry that no test owns has no test id, not an empty one."""
        self.assertFalse(Query(test_id="").accepts(row(test_id=UNSET)))
        self.assertTrue(Query(unowned=True).accepts(row(test_id=UNSET)))
        self.assertFalse(Query(unowned=True).accepts(row()))

    def test_late(self) -> None:
        """What was made for an ended test can be asked for."""
        self.assertTrue(Query(late=True).accepts(row(late=True)))
        self.assertFalse(Query(late=True).accepts(row()))

    def test_unanswered(self) -> None:
        """An entry without a response has no status."""
        self.assertFalse(Query(status=range(100, 1000)).accepts(row(status=None)))

    def test_trimmed(self) -> None:
        """Blanks around the text to search for do not count."""
        self.assertEqual(Query(q="  two words\t").q, "two words")

    def test_end(self) -> None:
        """The asked part ends after offset and limit, or with the list."""
        self.assertEqual(Query(offset=3, limit=4).end, 7)
        self.assertIsNone(Query(offset=3).end)
