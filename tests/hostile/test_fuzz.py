"""Damaged sessions by the hundred: the service lives, and the well-behaved clients are served."""

import os
from random import Random

from tests.hostile.case import ORDINARY, HostileTestCase
from tests.hostile.clients.mutants import mutant
from tests.hostile.clients.raw import HANDSHAKE, Raw
from tests.support.hypothesis_profiles import DEEP

SESSIONS = 10_000 if DEEP else 300
"""Each has some fifteen messages, of which a third is damaged."""

AT_ONCE = 10
SEED = int(os.environ.get("TRAFFICMOCK_SEED", "4310"))


class MutantTests(HostileTestCase):
    """Sessions with flipped bytes, and messages out of order."""

    timeout = 3600
    # The well-behaved clients live in this process; a busy machine stops it for longer than usual.
    options = (*ORDINARY, "--claim-timeout-ms", "10000")

    async def test_mutants(self) -> None:
        """Whatever clients send, in whatever pieces, nobody else is harmed."""
        chance = Random(SEED)  # noqa: S311 - repeatable, not secret
        for number in range(0, SESSIONS, AT_ONCE):
            batch = [(await self.come(), mutant(chance)) for _ in range(AT_ONCE)]
            for raw, sent in batch:
                self.send_in_pieces(raw, sent, chance)
            for raw, _ in batch:
                raw.half_close()
            for raw, _ in batch:
                await raw.end()
            self.hostile.clear()
            if number % 50 == 0:
                await self.well_behaved.go_on()

    def send_in_pieces(self, raw: Raw, sent: bytes, chance: Random) -> None:
        cut = chance.choice((len(sent), len(HANDSHAKE), chance.randrange(len(sent) + 1)))
        raw.write(sent[:cut])
        raw.write(sent[cut:])

    def test_repeatable(self) -> None:
        """The same seed makes the same sessions, so that a failure can be looked at."""
        first, second = Random(SEED), Random(SEED)  # noqa: S311 - repeatable, not secret
        self.assertEqual([mutant(first) for _ in range(50)], [mutant(second) for _ in range(50)])
