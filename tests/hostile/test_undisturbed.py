"""The ten well-behaved clients by themselves."""

from tests.hostile.case import HostileTestCase
from tests.hostile.clients.raw import pause


class UndisturbedTests(HostileTestCase):
    """Nobody misbehaves."""

    async def test_alone(self) -> None:
        """The ten are served as long as they stay, and are all that is connected."""
        await pause(0.3)
        self.assertEqual(await self.connected(), self.well_behaved.connection_ids())
