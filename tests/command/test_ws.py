"""``trafficmock ws``."""

import json

from tests.command.recorded_proxy import CommandTestCase


class WebSocketTests(CommandTestCase):
    """The list of WebSockets."""

    def test_table(self) -> None:
        """Every connection is one line with its outcome and how it was closed."""
        done = self.run_command("ws")
        [head, line] = done.out.splitlines()
        self.assertEqual(head.split(), ["ID", "TIME", "OUTCOME", "CLOSED", "CLIENT", "URL", "TEST"])
        self.assertRegex(
            line, r"^chat-1 .* matched +1000 +shop +wss://chat.example/room +pays with"
        )
        self.assertEqual(done.status, 0)

    def test_filters_and_json(self) -> None:
        """Outcomes are what ``--action`` filters; ``--json`` is the proxy's own answer."""
        done = self.run_command("ws", "--action", "passthrough")
        self.assertEqual((done.status, done.out), (1, ""))
        answer = json.loads(self.run_command("ws", "--action", "matched", "--json").out)
        self.assertEqual(answer, self.proxy.get("/api/ws?fields=summary"))
        self.assertEqual(self.run_command("ws", "--action", "fulfill").status, 2)
