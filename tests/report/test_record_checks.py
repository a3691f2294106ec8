"""Records that others have made."""

import contextlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.report.records import begin, end, entry, har, sections, test, unowned
from trafficmock.report.record_checks import (
    BadRecordError,
    check_record,
    check_run,
    check_test,
    is_har_path,
)
from trafficmock.report.run_document import run_document

_names = ["type", "test", "id", "title", "routes", "requests", "webSockets", "sections", "refused"]
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(_names), inner),
    max_leaves=10,
)


class CheckTests(SynchronousTestCase):
    """What can be shown, and what cannot."""

    def test_own(self) -> None:
        """The records of this version are right, and so is what is made of them."""
        records = [begin("a"), test("t", requests=[entry("r")], har="har/a.har"), end()]
        records += [sections("t", "a", "output", "x"), unowned(entry("q")), har("a.har", 2, 1)]
        for record in records:
            check_record(record)
        check_run(run_document([records]))

    def test_links(self) -> None:
        """Only a HAR of the report is linked."""
        self.assertTrue(is_har_path("har/a-b_c.1.har"))
        for text in ("javascript:a", "har/../a.har", "/har/a.har", "har/a.har\n", "http://a", 5):
            self.assertFalse(is_har_path(text))

    @given(_values, st.sampled_from(["test", "unowned", "end", "sections"]))
    def test_anything(self, value: Any, kind: str) -> None:
        """Whatever a record has, it is right or an error of this kind."""
        made = value if isinstance(value, dict) else {"test": value}
        for check, of in ((check_record, {**made, "type": kind}), (check_test, value)):
            with contextlib.suppress(BadRecordError):
                check(of)
        with contextlib.suppress(BadRecordError):
            check_run(made)
