"""The entries of recordings."""

import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import request, response
from trafficmock.history.har.recorded_entries import attached_bodies, recorded_entry

ANSWER = response(
    content=b"hi", headers={"Set-Cookie": "sid=7; Path=/", "content-type": "image/png"}
)


def entry_of(answer: Any, *, is_full: bool = False) -> Any:
    """Make the entry of a request with a cookie and a body."""
    asked = request(method="POST", content=b"sent", headers={"cookie": "a=1"})
    return recorded_entry(asked, answer, began=1_000, took=5, is_full=is_full)


class EntryTests(SynchronousTestCase):
    """What stands in them."""

    def test_modes(self) -> None:
        """The time has a Z, cookies are read; a minimal entry has neither times nor sizes."""
        for is_full, time, size in ((True, 5, 2), (False, -1, -1)):
            entry = entry_of(ANSWER, is_full=is_full)
            self.assertEqual(entry["startedDateTime"], "1970-01-01T00:00:01.000Z")
            self.assertEqual(entry["request"]["cookies"], [{"name": "a", "value": "1"}])
            (cookie,) = entry["response"]["cookies"]
            self.assertEqual(cookie, {"name": "sid", "value": "7", "path": "/"})
            self.assertEqual(entry["response"]["headers"][0]["name"], "set-cookie")
            self.assertEqual((entry["time"], entry["timings"]["wait"]), (time, time))
            self.assertEqual(entry["response"]["content"]["size"], size)

    def test_failure(self) -> None:
        """The text of a failure stands in the place of a response, with the status -1."""
        answer = entry_of("it was refused", is_full=True)["response"]
        self.assertEqual((answer["status"], answer["_failureText"]), (-1, "it was refused"))

    def test_attached(self) -> None:
        """Files get the bodies, with an extension by their type."""
        entry = entry_of(ANSWER)
        files = attached_bodies(entry)
        self.assertEqual(sorted(files.values()), [b"hi", b"sent"])
        holders = entry["request"]["postData"], entry["response"]["content"]
        self.assertEqual([each["_file"] for each in holders], [*files])
        self.assertRegex(holders[1]["_file"], r"^[0-9a-f]{40}\.png$")
        self.assertNotIn("text", json.dumps(holders[0]))
        self.assertEqual(attached_bodies(entry_of("refused")), {next(iter(files)): b"sent"})
