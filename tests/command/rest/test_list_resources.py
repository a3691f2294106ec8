"""When an entry of a list has all that is to be expected."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.command.rest.test_follow import entry
from trafficmock.command.rest.list_resources import REQUESTS, SOCKETS


class ListingTests(SynchronousTestCase):
    """Requests and WebSockets."""

    def test_settled_requests(self) -> None:
        """After continue and passthrough the response is waited for; nothing else is."""
        settled = {
            ("pending", None): False,
            ("passthrough", None): False,
            ("continue", None): False,
            ("continue", 200): True,
            ("abort", None): True,
            ("fulfill", 200): True,
        }
        for (action, status), expected in settled.items():
            self.assertEqual(REQUESTS.settled(entry("a", 1, action, status)), expected, action)

    def test_upstream_failed(self) -> None:
        """A passthrough that failed waits for nothing more, and is news."""
        waiting = entry("a", 1, "passthrough", None)
        failed = {**waiting, "upstreamError": "connect ECONNREFUSED"}
        self.assertTrue(REQUESTS.settled(failed))
        self.assertNotEqual(REQUESTS.state(failed), REQUESTS.state(waiting))

    def test_states(self) -> None:
        """A new action, status or request of the same id is a new state."""
        states = [
            REQUESTS.state(entry("a", 1, "pending", None)),
            REQUESTS.state(entry("a", 1, "continue", None)),
            REQUESTS.state(entry("a", 1, "continue", 200)),
            REQUESTS.state(entry("a", 2, "continue", 200)),
        ]
        self.assertEqual(len(set(states)), 4)

    def test_sockets(self) -> None:
        """A WebSocket has all when it is closed."""
        connection: dict[str, Any] = {"timestamp": 1, "outcome": "matched"}
        self.assertFalse(SOCKETS.settled(connection))
        self.assertTrue(SOCKETS.settled({**connection, "closedAt": 2}))
        self.assertNotEqual(SOCKETS.state(connection), SOCKETS.state({**connection, "closedAt": 2}))
