"""Which changes of an entry are worth a new line."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.command.rest.test_follow import entry
from trafficmock.command.rest.list_resources import REQUESTS, SOCKETS


class ListingTests(SynchronousTestCase):
    """Requests and WebSockets."""

    def test_upstream_failed(self) -> None:
        """A passthrough that failed is news."""
        waiting = entry("a", 1, "passthrough", None)
        failed = {**waiting, "upstreamError": "connect ECONNREFUSED"}
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
        """A WebSocket that is closed is news."""
        connection: dict[str, Any] = {"timestamp": 1, "outcome": "matched"}
        self.assertNotEqual(SOCKETS.state(connection), SOCKETS.state({**connection, "closedAt": 2}))
