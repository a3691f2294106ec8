"""The row of a tunnel in the history."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import ForwardProxyHarness
from trafficmock.http.hosts import Authority
from trafficmock.proxy.tunnel_record import TunnelRecord, server_name
from trafficmock.proxy.upstream_errors import UpstreamError


class TunnelRecordTests(SynchronousTestCase):
    """One row for one tunnel."""

    def test_server(self) -> None:
        """Its URL names the server, an IPv6 address in brackets."""
        self.assertEqual(server_name(Authority("db.test", 1)), "db.test:1")
        self.assertEqual(server_name(Authority("::1", 443)), "[::1]:443")

    def test_ended_once(self) -> None:
        """Both sides tell of the end; the first is right."""
        for first, outcome in (
            (None, ("response", "200 Connection established")),
            (UpstreamError("It went.", code="disconnected"), ("upstream_error", "It went.")),
        ):
            harness = ForwardProxyHarness()
            record = TunnelRecord(harness.resources.proxy_clients.enter("shop"), "db.test:1", {})
            record.ended(first)
            record.ended(UpstreamError("too late", code="disconnected"))
            record.ended()
            kinds = ["observed", "passthrough", outcome[0]]
            self.assertEqual([event[0] for event in harness.events()], kinds)
            self.assertEqual(harness.events()[-1], outcome)
