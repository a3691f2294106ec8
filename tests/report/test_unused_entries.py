"""The entries of a HAR that no test of a run has used."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.errors import LocalError
from trafficmock.report.unused_entries import check_har

ENTRY = {"request": {"method": "GET", "url": "http://h.test/"}, "response": {"status": 200}}
SOCKET = {"request": {"method": "GET", "url": "ws://h.test/"}, "_webSocketMessages": []}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


class UnusedEntriesTests(SynchronousTestCase):
    """``check_har``."""

    def setUp(self) -> None:
        self.base = Path(self.mktemp()).resolve()
        (self.base / "hars").mkdir(parents=True)

    def check(self, entries: Any, *hars: dict[str, Any]) -> Any:
        path = self.base / "hars" / "some.har"
        path.write_text(json.dumps({"log": {"entries": entries}}))
        return check_har(Path("hars", "..", "hars", "some.har"), {"hars": hars}, self.base)

    def test_numbers(self) -> None:
        """What is no request has a number, but cannot be used; others are unused by default."""
        used = {"file": "hars/some.har", "entries": 4, "used": [2]}
        found = self.check([None, ENTRY, SOCKET, ENTRY], used)
        self.assertEqual((found.total, [*found.unused], found.is_known), (2, [4], True))

    def test_another_file(self) -> None:
        """The use of a file of the same name elsewhere does not count."""
        found = self.check([ENTRY], {"file": "some.har", "entries": 1, "used": [1]})
        self.assertEqual((found.total, [*found.unused], found.is_known), (1, [1], False))

    @profile(50)
    @given(JSON)
    def test_any_har(self, entries: Any) -> None:
        """Whatever stands in the file, it is checked or refused."""
        try:
            found = self.check(entries, {"file": "hars/some.har", "entries": 9, "used": [1]})
            self.assertLessEqual(len(found.unused), found.total)
        except LocalError as error:
            self.assertIn("some.har", str(error))
