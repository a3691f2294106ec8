"""``trafficmock show``, and the two kinds of page that it writes."""

from __future__ import annotations

import json

from tests.command.recorded_proxy import CommandTestCase


class ShowTests(CommandTestCase):
    """One entry."""

    def page(self, *words: str) -> str:
        done = self.run_command("show", *words)
        self.assertEqual((done.status, done.err), (0, ""))
        self.check_clean(done)
        return done.out

    def test_json_entry(self) -> None:
        """``--json`` is the proxy's own answer, for requests and for WebSockets."""
        for entry_id, path in (("hop-1", "/api/history/hop-1"), ("chat-1", "/api/ws/chat-1")):
            self.assertEqual(json.loads(self.page(entry_id, "--json")), self.proxy.get(path))

    def test_newest(self) -> None:
        """Without an id it is the newest, of requests and WebSockets."""
        self.assertEqual(self.page(), self.page("chat-1"))

    def test_hostile(self) -> None:
        """Escape sequences are shown, not sent, wherever they were recorded."""
        for words in (["evil"], ["evil", "--full"], ["evil", "--json"], ["chat"]):
            self.page(*words)
        self.assertEqual(self.page("evil").count("\\x1b]0;owned"), 4)

    def test_unknown(self) -> None:
        """An unknown id is status 1; so is a beginning that several have, which are named."""
        done = self.run_command("show", "no\x1bpe")
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertEqual(done.err, "trafficmock show: nothing with the id no\\x1bpe is recorded\n")
        done = self.run_command("show", "hop")
        self.assertEqual(done.status, 1)
        self.assertIn("hop is the beginning of hop-3, hop-2, hop-1", done.err)
        self.assertEqual(self.run_command("show", "").status, 1)
