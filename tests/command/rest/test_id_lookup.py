"""What an id on the command line means."""

from __future__ import annotations

from tests.command.recorded_proxy import CommandTestCase
from trafficmock.command import har, show
from trafficmock.command.exit_status import CommandError
from trafficmock.command.rest.id_lookup import completed_ids, find
from trafficmock.command.rest.list_resources import REQUESTS
from trafficmock.command.rest.rest_client import RestClient


class FindTests(CommandTestCase):
    """Ids and beginnings of ids."""

    def setUp(self) -> None:
        super().setUp()
        self.client = RestClient.at(self.proxy.url)
        self.addCleanup(self.client.close)

    def test_beginnings(self) -> None:
        """An id, or what only one id begins with, finds requests and WebSockets."""
        for given, expected in (("hop-1", "hop-1"), ("pas", "passed-1"), ("c", "chat-1")):
            self.assertEqual(find(self.client, given).entry["id"], expected)
        self.assertEqual(find(self.client, "evil-\x1b").entry["id"], "evil-\x1b[31m")

    def test_odd_ids(self) -> None:
        """An id may hold whatever a path does not take."""
        for given in ("a/b", "?", "%", "..", "\udcff", "é", "#"):
            error = self.assertRaises(CommandError, find, self.client, given)
            self.assertEqual(error.status, 1)

    def test_where(self) -> None:
        """HARs are made of requests only."""
        self.assertRaises(CommandError, find, self.client, "chat-1", [REQUESTS])

    def test_completion(self) -> None:
        """A shell is offered the ids that fit, of the kinds that the command takes."""
        url = ["--proxy-url", self.proxy.url]
        both = show.parser().parse_args([*url, "x"])
        self.assertEqual(sorted(completed_ids("h", both)), ["hop-1", "hop-2", "hop-3"])
        self.assertEqual(completed_ids("ch", both), ["chat-1"])
        self.assertEqual(completed_ids("ch", har.parser().parse_args([*url, "x"])), [])
        self.assertEqual(completed_ids("evil", both), [])

    def test_completion_without_proxy(self) -> None:
        """Without a proxy nothing is offered, and nothing is said."""
        gone = show.parser().parse_args(["--proxy-url", "http://127.0.0.1:2", "x"])
        self.assertEqual(completed_ids("h", gone), [])
