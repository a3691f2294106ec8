"""Requirements on the operations of GraphQL requests."""

import json
from typing import Any
from urllib.parse import quote, urlencode

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.matching.compared_requests import content
from tests.support.playbook import REDACTOR
from trafficmock.matching.graphql_request import (
    LONGEST_DOCUMENTS,
    MOST_OPERATIONS,
    operation_names,
    operations_part,
)
from trafficmock.matching.request_conditions import (
    RequestCondition,
    RequestConditions,
    compile_condition,
)
from trafficmock.matching.request_content import RequestContent, UnreadablePartError

URL = "http://h.test/graphql"

DOCUMENTS: dict[str, list[str | None]] = {
    "query User { me }": ["User"],
    'query User($id: ID! = "}", $in: In = {a: {b: 1}}) @live(if: {a: true}) { me(in: {c: 1}) }': [
        "User"
    ],
    "# A query might look like this\n\nquery User { me }": ["User"],
    "# query Old { me }\r\nquery User { me }": ["User"],
    "\ufeffquery,User{me}": ["User"],
    "{ query mutation }": [None],
    "query { me }": [None],
    "subscription @a { me }": [None],
    'query User { find(text: "query Other { a }") }': ["User"],
    'query User { find(text: """ } query "Other" { \\""" """) }': ["User"],
    'query User { find(text: "\\"} query Other {") }': ["User"],
    '"""query Old { a }""" query User { me }': ["User"],
    "fragment query on User { query mutation } query User { ...query }": ["User"],
    "fragment f on Old { a } mutation Pay { ...f }": ["Pay"],
    "query Other { a } query User { me }": ["Other", "User"],
    "query query { query }": ["query"],
    "query User { me? { a } }": ["User"],  # an extension of some servers
    "": [],
    "fragment f on A { b }": [],
    "} query A { b }": [],
}


def post(body: Any, content_type: str = "application/json", url: str = URL) -> RequestContent:
    coded = body if isinstance(body, bytes) else json.dumps(body).encode()
    return content(coded, url, **{"content-type": content_type})


def named(asked: RequestContent) -> list[Any]:
    return asked.values("operation", [])


def wanted(name: str, **variables: Any) -> RequestConditions:
    conditions: list[RequestCondition] = [compile_condition("operation", [], equals=name)]
    conditions += [
        compile_condition("variables", [key], equals=value) for key, value in variables.items()
    ]
    return RequestConditions.of(conditions)


class DocumentTests(SynchronousTestCase):
    """The names in a document."""

    def test_charsets(self) -> None:
        """A body has the charset of its type, or of its byte order mark, as servers read it."""
        text = json.dumps({"query": 'query User { find(text: "é") }'}, ensure_ascii=False)
        for coded, content_type in (
            (text.encode("utf-8-sig"), "application/json"),
            (text.encode("utf-16"), "application/json; charset=utf-16"),
            (text.encode("utf-16"), "application/json"),
            (text.encode("utf-16le"), 'application/json; charset="UTF-16LE"'),
            (text.encode("latin-1"), "application/json; charset=iso-8859-1"),
        ):
            self.assertEqual(named(post(coded, content_type)), ["User"], content_type)
        damaged = post(text.encode("utf-16")[:-1], "application/json; charset=utf-16")
        self.assertRaises(UnreadablePartError, damaged.values, "json", ())
        plain = {"content-type": "application/json", "content-encoding": "identity"}
        self.assertEqual(named(content(text.encode(), URL, **plain)), ["User"])

    def test_names(self) -> None:
        """Names are found by the grammar: not in comments, texts, fragments and selections."""
        for document, names in DOCUMENTS.items():
            self.assertEqual([*operation_names(document)], names, document)

    def test_several(self) -> None:
        """A document with several operations needs an ``operationName``."""
        document = "query Other { a } query User { me }"
        self.assertEqual(named(post({"query": document, "operationName": "User"})), ["User"])
        found = [*wanted("User").differences(post({"query": document, "operationName": ""}))]
        self.assertEqual(
            found,
            ["the GraphQL operation: the document has several operations and no operationName"],
        )

    @given(st.text(), st.sampled_from(sorted(DOCUMENTS)))
    def test_any_text(self, text: str, document: str) -> None:
        """Any text is read, and what stands in a comment or a text changes no name."""
        self.assertIsInstance([*operation_names(text)], list)
        quoted = json.dumps("".join(char for char in text if char.isprintable()))
        before = f"# {quoted}\nfragment x on Y {{ a(b: {quoted}) }}\n"
        self.assertEqual(
            [*operation_names(before + document)],
            [] if document.startswith("}") else [*operation_names(document)],
        )

    def test_length(self) -> None:
        """The documents of a request have a limit, those with an ``operationName`` do not count."""
        long = " " * (LONGEST_DOCUMENTS - 19) + "query User { user }"
        self.assertEqual(named(post({"query": long})), ["User"])
        self.assertEqual(named(post({"query": long + " ", "operationName": "User"})), ["User"])
        self.assertRaises(UnreadablePartError, named, post({"query": long + " "}))
        half = long[LONGEST_DOCUMENTS // 2 :] + " "
        self.assertRaises(UnreadablePartError, named, post([{"query": half}, {"query": half}]))


class FormTests(SynchronousTestCase):
    """The forms in which requests come."""

    def test_forms(self) -> None:
        """An operation is found in each form, with its variables."""
        query, variables = "query User { me }", {"id": 7}
        written = {"query": query, "variables": json.dumps(variables)}
        part = json.dumps({"query": query, "variables": variables})
        upload = (
            f'--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{part}\r\n'
            '--x\r\nContent-Disposition: form-data; name="map"\r\n\r\n{}\r\n'
            '--x\r\nContent-Disposition: form-data; name="0"; filename="a"\r\n\r\n\0\r\n--x--\r\n'
        ).encode()
        by_query = f"{URL}?variables={quote(written['variables'])}"
        for form, asked in {
            "JSON": post({"query": query, "variables": variables}),
            "JSON with a text of variables": post(written),
            "JSON, another type": post({"query": query, "variables": variables}, "text/plain"),
            "GET": content(b"", f"{URL}?{urlencode(written)}"),
            "GET, persisted": content(
                b"", f"{by_query}&operationName=User&extensions=%7B%22persistedQuery%22%3A%7B%7D%7D"
            ),
            "document": post(query.encode(), "application/graphql; charset=utf-8", by_query),
            "form": post(urlencode(written).encode(), "application/x-www-form-urlencoded"),
            "upload": post(upload, "multipart/form-data; boundary=x"),
            "upload, quoted": post(upload, 'multipart/form-data; charset=utf-8; boundary="x"'),
            "persisted": post({"operationName": "User", "variables": variables, "extensions": {}}),
            "name beside the body": post(
                {"query": "{ me }", "variables": variables}, url=f"{URL}?operationName=User"
            ),
            "batch of one": post([{"query": query, "variables": variables}]),
        }.items():
            self.assertEqual(named(asked), ["User"], form)
            self.assertTrue(wanted("User", id=7).hold(asked), form)
            self.assertFalse(wanted("User", id=8).hold(asked), form)

    def test_others(self) -> None:
        """What is no GraphQL request meets no condition, and the message is why."""
        for asked, text in (
            (post([]), "the body is no GraphQL request"),
            (post([{}, 1]), "the body is no GraphQL request"),
            (post([{}] * (MOST_OPERATIONS + 1)), "the batch has more than 1000 operations"),
            (post({"query": 7}), "the GraphQL operation is missing"),
            (post(b"--x", "multipart/form-data; boundary=x"), 'has no part "operations"'),
            (post(b"--x", "multipart/form-data"), 'has no part "operations"'),
            (content(b"", URL + "?page=2"), "there is no body"),
        ):
            self.assertFalse(wanted("User").hold(asked))
            self.assertIn(text, " ".join(wanted("User").differences(asked)))

    @given(st.binary(max_size=60), st.text(max_size=20))
    def test_any_part(self, value: bytes, boundary: str) -> None:
        """Any body and content type is read, or no GraphQL request."""
        for body in (value, b'--a\r\nx: y; name="operations"\r\n\r\n' + value):
            asked = post(body, f"multipart/form-data; boundary={boundary}")
            try:
                named(asked)
            except UnreadablePartError as error:
                self.assertTrue(str(error))

    def test_part_of_upload(self) -> None:
        """The part is found at any place, and other parts may have its name in their content."""
        body = (
            b'--b\r\nContent-Disposition: form-data; name="map"\r\n\r\n; name="operations"\r\n'
            b"--b\r\ncontent-disposition: form-data; name=operations\r\n"
            b"content-type: application/json\r\n\r\n[1]\r\n--b--"
        )
        self.assertEqual(operations_part("multipart/form-data;boundary=b", body), b"[1]")


class BatchTests(SynchronousTestCase):
    """Batches: several operations in one request."""

    def test_one_of_them(self) -> None:
        """One operation has to meet all conditions."""
        asked = post(
            [
                {"query": "query User($id: ID) { user }", "variables": {"id": 1}},
                {"query": "query Cart($id: ID) { cart }", "variables": {"id": 2, "open": True}},
            ]
        )
        self.assertEqual(named(asked), ["User", "Cart"])
        self.assertTrue(wanted("User", id=1).hold(asked))
        self.assertTrue(wanted("Cart", id=2).hold(asked))
        self.assertFalse(wanted("User", id=2).hold(asked))
        self.assertFalse(wanted("Pay").hold(asked))
        absent = compile_condition("variables", ["open"], is_absent=True)
        for name, holds in (("User", True), ("Cart", False)):
            operation = compile_condition("operation", [], equals=name)
            self.assertIs(RequestConditions.of([operation, absent]).hold(asked), holds)

    def test_nearest(self) -> None:
        """The difference is that of the nearest operation."""
        asked = post(
            [
                {"operationName": "User", "variables": {"id": 1}},
                {"operationName": "Cart", "variables": {"id": 2}},
            ]
        )
        (text,) = wanted("Cart", id=1).differences(asked)
        self.assertEqual(REDACTOR.written(text), "variables.id is 2, wanted 1")
