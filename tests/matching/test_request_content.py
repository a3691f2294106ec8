"""Requirements on the parts of requests that conditions look at."""

from twisted.trial.unittest import SynchronousTestCase

from tests.matching.compared_requests import content, said
from trafficmock.matching.request_conditions import compile_condition
from trafficmock.matching.request_content import MOST_BYTES


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

    def test_graphql_by_get(self) -> None:
        """The query string has the operation and the variables of a request by ``GET``."""
        asked = content(url='http://h.test/?query=query%20Cart%20{x}&variables={"id":7}')
        self.assertEqual(asked.values("operation", []), ["Cart"])
        self.assertEqual(asked.values("variables", ["id"]), [7])
