"""``trafficmock history``."""

from __future__ import annotations

import json

from tests.command.stage import CommandTestCase


class HistoryTests(CommandTestCase):
    """The list of requests."""

    def test_table(self) -> None:
        """Every request is one line, oldest first, with what became of it and the whole id."""
        done = self.run_command("history")
        head, *lines = done.out.splitlines()
        titles = "ID TIME METHOD STATUS ACTION TOOK CLIENT URL TEST"
        self.assertEqual(" ".join(head.split()), titles)
        ids = [line.split()[0] for line in lines]
        hops = ["hop-1", "hop-2", "hop-3"]
        expected = ["fulfilled-1", "aborted-1", "passed-1", *hops, "both-1", "evil-\\x1b[31m"]
        self.assertEqual(ids, expected)
        self.assertRegex(
            lines[0], r"POST +200 +fulfill .* https://pay.example/charges +pays with a card$"
        )
        self.assertRegex(lines[1], r"connectionrefused +abort ")
        self.assertRegex(lines[6], r"ambiguous_route +error .* pays with a card \| 日本語のテスト$")
        self.check_clean(done)
        self.assertEqual((done.status, done.err), (0, ""))

    def test_filters(self) -> None:
        """Filters are those of the REST API, which does the filtering."""
        for words, expected in (
            (["--action", "abort"], ["aborted-1"]),
            (["-q", "teapot"], ["passed-1"]),
            (["--test-id", "t1", "-n", "1", "--offset", "3"], ["aborted-1"]),
            (["--client-id", "shop", "--from", "1d", "--limit", "1"], ["evil-\\x1b[31m"]),
        ):
            out = self.run_command("history", *words).out
            self.assertEqual([line.split()[0] for line in out.splitlines()[1:]], expected, words)

    def test_json(self) -> None:
        """``--json`` is the proxy's own answer, in ASCII."""
        done = self.run_command("history", "--json")
        self.check_clean(done)
        self.assertTrue(done.out.isascii())
        self.assertEqual(
            json.loads(done.out), self.proxy.get("/api/history?fields=summary&limit=100")
        )

    def test_nothing(self) -> None:
        """Nothing found is status 1, and a table says so; JSON is an empty list."""
        done = self.run_command("history", "-q", "no such thing")
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn("nothing is recorded", done.err)
        done = self.run_command("history", "-q", "no such thing", "--json")
        self.assertEqual((done.status, done.out), (1, '{"entries": []}\n'))

    def test_said_wrongly(self) -> None:
        """Wrong words are status 2, with the usage."""
        for words in (["--limit", "x"], ["--action", "eaten"], ["--frob"], ["stray"]):
            done = self.run_command("history", *words)
            self.assertEqual(done.status, 2, words)
            self.assertIn("usage: trafficmock history", done.err)
        done = self.run_command("history", "--follow", "--to", "1m")
        self.assertEqual((done.status, done.out), (2, ""))
