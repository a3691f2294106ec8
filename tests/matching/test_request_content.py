"""Requirements on the parts of requests that conditions look at."""

import gc
import json
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.matching.compared_requests import URL, content, said
from trafficmock.matching.request_conditions import RequestConditions, compile_condition
from trafficmock.matching.request_content import (
    MOST_BYTES,
    MOST_FIELDS,
    MOST_PARTS,
    RequestContent,
    UnreadablePartError,
)

VALUES = json.loads((Path(__file__).parents[1] / "data" / "condition_values.json").read_text())
"""The values at places of requests, which conditions compare and functions of tests get."""


class ValueTests(SynchronousTestCase):
    """The values at a place."""

    def test_values(self) -> None:
        """They are those of the table."""
        for case in VALUES:
            body = case.get("body", "").encode()
            url, lines = case.get("url", "http://h.test/"), case.get("headers", [])
            found = RequestContent(url, lines, lambda body=body: body)  # type: ignore[misc]
            try:
                values = found.values(case["part"], case["path"])
            except UnreadablePartError:
                values = []
            self.assertEqual(values, case["values"], case)

    def test_header_lists(self) -> None:
        """A list for a header is for the one value of all its lines, with any case of the name."""
        wanted = compile_condition("header", ["X-A", 0], equals="1")
        self.assertTrue(wanted.holds(RequestContent(URL, [("x-a", "1")], bytes)))
        self.assertFalse(wanted.holds(RequestContent(URL, [("x-a", "2")], bytes)))


class BodyTests(SynchronousTestCase):
    """Bodies that cannot be compared."""

    def test_unreadable(self) -> None:
        """A body that cannot be compared says why."""
        wanted = compile_condition("json", ["a"])
        for body, headers, text in (
            (b"", {}, "json.a: there is no body"),
            (b"a=1", {}, "json.a: the body is no JSON"),
            (b"{}", {"content-encoding": "gzip"}, "json.a: the body has the content-encoding gzip"),
            (b" " * (MOST_BYTES + 1), {}, f"{MOST_BYTES + 1} bytes, more than {MOST_BYTES}"),
        ):
            self.assertIn(text, str(said(wanted, content(body, **headers))))

    def test_too_many(self) -> None:
        """What has too many values to be compared in good time meets nothing."""
        first, form = compile_condition("json", [0]), compile_condition("form", ["a"])
        text = said(first, content(b"[" + b"1," * MOST_PARTS + b"1]"))
        self.assertEqual(text, f"json[0]: the JSON has more than {MOST_PARTS} values")
        fields = "a&" * MOST_FIELDS
        text = said(form, content(fields.encode()))
        self.assertEqual(text, f"form.a: the form has more than {MOST_FIELDS} fields")
        for absent in (False, True):
            query = compile_condition("query", ["a"], is_absent=absent)
            asked = content(url=f"http://h.test/?{fields}")
            self.assertFalse(RequestConditions.of([query]).hold(asked))
            self.assertIn(f"more than {MOST_FIELDS} fields", str(said(query, asked)))

    def test_found_out_once(self) -> None:
        """A body that cannot be read is read once for all conditions."""
        reads: list[bytes] = []

        def read() -> bytes:
            reads.append(b"{" * 10)
            return reads[-1]

        asked = RequestContent("http://h.test/", [], read)
        for part in ("json", "operation", "variables", "json"):
            self.assertRaises(UnreadablePartError, asked.values, part, [])
        self.assertEqual(len(reads), 1)

    def test_collector(self) -> None:
        """The garbage collector, which decoding pauses, runs afterwards, and only if it did."""
        for enabled in (True, False):
            (gc.enable if enabled else gc.disable)()
            self.addCleanup(gc.enable)
            self.assertRaises(UnreadablePartError, content(b"{").values, "json", [])
            self.assertIs(gc.isenabled(), enabled)
