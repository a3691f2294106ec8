"""What we give out is a link."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.websocket.link import Link
from trafficmock.server.websocket.open_link import OpenLink


class OpenLinkTests(SynchronousTestCase):
    """The link of an open connection; what it does is tested with its protocols."""

    def test_complete(self) -> None:
        """Our link has all that a link has."""
        members = {name for name in vars(Link) if not name.startswith("_")} | {"id"}
        self.assertEqual(members - set(dir(OpenLink)), set())
