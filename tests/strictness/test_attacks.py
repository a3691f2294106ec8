"""Nothing leaves in strict mode, whatever ends, stops or loses its connection."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.strictness.attacks import ATTACKS
from tests.strictness.lab import Lab
from tests.support.hypothesis_profiles import DEEP

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
