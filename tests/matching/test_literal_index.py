"""Requirements on the look-up by the literals of conditions."""

from twisted.trial.unittest import SynchronousTestCase

from tests.matching.compared_requests import content
from trafficmock.matching.literal_index import MOST_COMBINATIONS, LiteralIndex
from trafficmock.matching.request_conditions import DemandedValues

PAGE = DemandedValues((("query", ("page",)),), ("2",))
TAGS = DemandedValues((("query", ("tag",)), ("query", ("page",))), ("b", "2"))
ID = DemandedValues((("json", ("id",)),), (3,))
NONE = DemandedValues((), ())


class LiteralIndexTests(SynchronousTestCase):
    """Items with the same literals, and others."""

    def setUp(self) -> None:
        self.index: LiteralIndex[str] = LiteralIndex()
        for number, literals in enumerate((PAGE, TAGS, ID, NONE, PAGE)):
            self.index.add(number, literals, f"item {number}")

    def found(self, body: bytes | None, query: str) -> list[int]:
        asked = content(body, f"http://h.test/?{query}")
        return sorted(number for number, _ in self.index.find(asked))

    def test_find(self) -> None:
        """Each value of a name counts, and numbers are equal whatever they look like."""
        self.assertEqual(self.found(b"", "page=2&tag=a&tag=b"), [0, 1, 3, 4])
        self.assertEqual(self.found(b'{"id": 3.0}', "page=1"), [2, 3])
        self.assertEqual(self.found(b'{"id": [3]}', "tag=b"), [3])

    def test_many_combinations(self) -> None:
        """Of a request with many values of several names, more is compared than has them."""
        query = "&".join(f"tag={n}&page={n}" for n in range(MOST_COMBINATIONS))
        self.assertEqual(self.found(b"", query), [0, 1, 3, 4])
        self.assertEqual(self.found(b"", query.replace("page=2&", "")), [1, 3])

    def test_remove(self) -> None:
        """What is removed is not found, and leaves nothing behind."""
        self.index.remove(0, PAGE)
        self.assertEqual(self.found(b"", "page=2"), [3, 4])
        for number, literals in ((1, TAGS), (2, ID), (3, NONE), (4, PAGE)):
            self.index.remove(number, literals)
        self.assertEqual((len(self.index), self.index._by_places), (0, {}))
