"""``trafficmock har``."""

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator

from tests.command.recorded_proxy import CommandTestCase

SCHEMA = Path(__file__).parents[1] / "data" / "har-1.2.schema.json"


class HarTests(CommandTestCase):
    """Requests as one file."""

    def har(self, *words: str) -> tuple[list[str], str]:
        """Run the command; give the addresses in the HAR, which is valid, and what was said."""
        done = self.run_command("har", *words)
        self.assertEqual(done.status, 0, done)
        self.check_clean(done)
        document: dict[str, Any] = json.loads(done.out)
        faults = Draft7Validator(json.loads(SCHEMA.read_text())).iter_errors(document)
        self.assertEqual([fault.message for fault in faults], [])
        return [entry["request"]["url"] for entry in document["log"]["entries"]], done.err

    def test_one(self) -> None:
        """One id is exactly what the proxy gives for it."""
        done = self.run_command("har", "ful")
        self.assertEqual(json.loads(done.out), self.proxy.get("/api/history/fulfilled-1/har"))

    def test_chain(self) -> None:
        """Any hop leads to its whole chain, in order; two hops do not double it."""
        chain = [f"https://id.example/{end}" for end in ("login", "two", "three")]
        for ids in (["hop-1"], ["hop-2"], ["hop-3", "hop-1"]):
            self.assertEqual(self.har(*ids, "--chain")[0], chain)
        self.assertEqual(self.har("hop-2")[0], chain[1:2])

    def test_filter(self) -> None:
        """A filter makes one file of all that it lets through; what has no response is counted."""
        urls, message = self.har("--client-id", "shop")
        self.assertEqual(len(urls), 6)
        self.assertIn("2 of 8 left out: no response was recorded", message)
        self.assertEqual(
            self.har("-q", "login", "--chain")[0][1:],
            ["https://id.example/two", "https://id.example/three"],
        )

    def test_all(self) -> None:
        """Without ids and filters it is everything."""
        all_urls, _ = self.har()
        self.assertEqual(len(all_urls), 6)
        self.assertEqual(self.har("--client-id", "shop")[0], all_urls)
        self.assertEqual(self.har("--method", "post")[0], ["https://pay.example/charges"])

    def test_file(self) -> None:
        """``-o`` writes a file; a place that cannot be written is an error of one line."""
        path = Path(self.mktemp())
        done = self.run_command("har", "hop-1", "--chain", "-o", str(path))
        self.assertEqual((done.status, done.out), (0, ""))
        self.assertIn("3 entries in ", done.err)
        self.assertEqual(len(json.loads(path.read_text())["log"]["entries"]), 3)
        done = self.run_command("har", "hop-1", "-o", "/no/such/place")
        self.assertEqual(done.status, 1)
        self.assertEqual(
            done.err, "trafficmock har: cannot write /no/such/place: No such file or directory\n"
        )

    def test_nothing(self) -> None:
        """Where no response was recorded, status 1 says so."""
        for words in (["aborted-1"], ["--action", "error"], ["-q", "nowhere"], ["chat-1"]):
            self.assertEqual(self.run_command("har", *words).status, 1, words)

    def test_said_wrongly(self) -> None:
        """Ids or filters, not both."""
        done = self.run_command("har", "hop-1", "-q", "x")
        self.assertEqual((done.status, done.out), (2, ""))
        self.assertEqual(
            done.err, "trafficmock har: har takes ids or filters, not both: see --help\n"
        )
