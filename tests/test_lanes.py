"""Which tests run where: without processes, and on the oldest libraries."""

import re
from configparser import ConfigParser
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests import oldest, unit

ROOT = Path(__file__).parents[1]


class UnitTests(SynchronousTestCase):
    """``python -m twisted.trial tests.unit`` runs what stays within its process."""

    def test_by_imports(self) -> None:
        """A module whose helpers start processes or connect is not one of them."""
        found = unit.unit_modules()
        self.assertIn("tests.core.test_hello", found)
        self.assertNotIn("tests.agent.test_agent", found)
        self.assertNotIn("tests.command.test_show", found)
        self.assertNotIn("tests.attach.test_rest_probe", found)

    def test_forbidden(self) -> None:
        """A product that starts a process or connects fails the test."""
        self.assertRaises(AssertionError, unit.forbid, "subprocess.Popen", ("true",))
        unit.forbid("open", ("a file", "r", 0))


class OldestTests(SynchronousTestCase):
    """``python -m twisted.trial tests.oldest`` runs the tests without Node and browser."""

    def test_by_imports(self) -> None:
        """Packages are found by their directory; what imports a browser is left out."""
        found = oldest.oldest_modules()
        self.assertIn("tests.core.test_hello", found)
        self.assertIn("tests.testing.session.test_session", found)
        self.assertIn("tests.test_tap", found)
        self.assertNotIn("tests.dashboard.browser.request_list.test_list", found)
        self.assertNotIn("tests.dashboard.test_types", found)
        self.assertNotIn("tests.hostile.test_json", found)

    def test_pinned(self) -> None:
        """``tox -e oldest`` pins what ``setup.cfg`` requires of the product, and nothing else."""
        tox, setup = ConfigParser(interpolation=None), ConfigParser(interpolation=None)
        tox.read(ROOT / "tox.ini")
        setup.read(ROOT / "setup.cfg")
        pinned = requirements(tox["testenv:oldest"]["deps"])
        required = requirements(setup["options"]["install_requires"])
        self.assertEqual(pinned.keys(), required.keys())
        for name, versions in pinned.items():
            lowest = re.sub(r"^==|\.\*$", "", versions)
            self.assertIn(f">={lowest}", required[name].split(","), name)


def requirements(text: str) -> dict[str, str]:
    """Map names, in small letters and without extras, to what is said of their versions."""
    pairs = (re.split(r"(?=[=<>])", line, maxsplit=1) for line in text.split())
    return {name.lower().partition("[")[0]: versions for name, versions in pairs}
