"""Tunnels that are not read, as the driver has the core judge them."""

from typing import Any

from attrs import define
from twisted.trial.unittest import SynchronousTestCase

from tests.server.fakes import DriverHarness
from trafficmock.core.settings import Settings
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.proxy.tunnel_record import tunnel_request
from trafficmock.wire import PROTOCOL_VERSION
from trafficmock.wire.inbound import Hello


@define(eq=False)
class Client:
    """A client of the core within this process, which hears nothing."""

    id: str = ""
    kind: str = "proxy"

    def deliver(self, message: object) -> None:
        """Take it."""

    def socket(self, _: str) -> None:
        """Have none."""


class StrictTunnelsTests(SynchronousTestCase):
    """A strict service that allows one host."""

    def setUp(self) -> None:
        strict = read_allow_list(["allowed.test"])
        self.harness = DriverHarness(Settings(version="1.2.3", strict=strict))
        self.client: Any = Client()
        hello = Hello(PROTOCOL_VERSION, "1.2.3", "node", "shop")
        self.harness.driver.client_opened(self.client, hello)
        self.tunnels = self.harness.driver.tunnels

    def test_refused(self) -> None:
        """One to another host is refused, and is in the history once."""
        request = tunnel_request("db.test:1", {})
        self.assertTrue(self.tunnels.would_refuse(self.client, request))
        text = self.tunnels.refuse(self.client, "t1", request)
        self.assertIn("CONNECT https://db.test:1/ is a tunnel that is not read", str(text))
        self.assertEqual(len(self.harness.history.requests), 1)

    def test_allowed(self) -> None:
        """One to that host may be opened; its record is another's matter."""
        request = tunnel_request("allowed.test:1", {})
        self.assertFalse(self.tunnels.would_refuse(self.client, request))
        self.assertIsNone(self.tunnels.refuse(self.client, "t1", request))
        self.assertEqual(len(self.harness.history.requests), 0)

    def test_client_that_is_gone(self) -> None:
        """For one that the core does not know any more nothing is refused: it has no connection."""
        self.harness.driver.client_closed(self.client)
        request = tunnel_request("db.test:1", {})
        self.assertFalse(self.tunnels.would_refuse(self.client, request))
        self.assertIsNone(self.tunnels.refuse(self.client, "t1", request))
