"""Nothing leaves in strict mode, whatever ends, stops or loses its connection."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.strictness.attacks import ATTACKS, long_test, restart
from tests.strictness.lab import Lab
from tests.support.hypothesis_profiles import DEEP
from trafficmock.testing.adapters import background_connection

ROUNDS = 6


class AttackTests(SynchronousTestCase):
    """A service and applications that never rest; an upstream counts."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def folder(self) -> Path:
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        return folder

    def attack(self, *, local: bool) -> None:
        """Try each attack, and see that requests pass again afterwards."""
        for name, attack in ATTACKS.items():
            with Lab(self.folder(), local=local) as lab:
                result = attack(lab, ROUNDS)
                self.assertEqual(result.leaked, [], name)

    def test_local(self) -> None:
        """Agents decide by themselves what strict mode leaves to them."""
        self.attack(local=True)

    def test_asked(self) -> None:
        """Agents ask about everything."""
        self.attack(local=False)

    def test_forgotten(self) -> None:
        """Without what the process before has kept, requests leave: the attack is one."""
        with Lab(self.folder()) as lab:
            self.assertNotEqual(restart(lab, 2, forgets=True).leaked, [])

    def test_connection_stays_lost(self) -> None:
        """Without a worker that comes back during its test, requests leave: the attack is one."""
        self.patch(background_connection, "RETURN_SECONDS", 3600.0)
        with Lab(self.folder()) as lab:
            self.assertNotEqual(long_test(lab, 1).leaked, [])
