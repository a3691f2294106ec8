"""All ways to leave in a strict test, and what the page says of them (deep)."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.command.sealing.test_sealed import may_seal
from tests.hostile.leaving.leaving import FAILS, PAGE, PROGRAMS, REFUSED, ground, rows, run_all
from tests.support.hypothesis_profiles import DEEP


class PageTests(SynchronousTestCase):
    """The page has enough ways, and none that leaves a sealed command."""

    def test_sealed(self) -> None:
        page = PAGE.read_text(encoding="utf-8")
        for program in PROGRAMS:
            found = rows(program, page)
            self.assertGreater(len(found), 20)
            self.assertLessEqual({sealed for _, sealed in found.values()}, {REFUSED, FAILS})


class WayTests(SynchronousTestCase):
    """Each way, as the page says."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"
    elif not may_seal():
        skip = "the kernel does not let this user make namespaces"

    def test_ways(self) -> None:
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        page = PAGE.read_text(encoding="utf-8")
        with ground(folder) as made:
            for program, found in run_all(made).items():
                said = rows(program, page)
                strict = {way: outcome for way, (outcome, _) in found.items()}
                self.assertEqual(strict, {way: said.get(way, ("",))[0] for way in found})
                # The kernel refuses at once: whether the proxy hears of the request before depends
                # on which of them is faster.
                sealed = {way: outcome for way, (_, outcome) in found.items()}
                self.assertLessEqual(set(sealed.values()), {REFUSED, FAILS}, sealed)
