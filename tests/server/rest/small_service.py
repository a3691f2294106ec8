"""A service with a little history."""

from tests.support.http_client import OWNER, Service, record
from trafficmock import records

API = ["/health", "/api/history", "/api/ws", "/api/connections"]
API += ["/api/history/a", "/api/history/a/har", "/api/ws/s"]


def service() -> Service:
    """Make a service that remembers a mocked request ``a`` and a WebSocket ``s``."""
    made = Service()
    record(made.history, "a", "http://api.test/a", b"question")
    made.history.record(records.SocketSeen("s", "api", "ws://api.test/s", []), 2000)
    made.history.record(records.SocketOwned("s", OWNER), 2001)
    return made
