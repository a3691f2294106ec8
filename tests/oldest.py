"""The tests of the product that need neither Node nor a browser.

``python -m twisted.trial tests.oldest``: ``tox -e oldest`` runs them on the oldest libraries that
``setup.cfg`` allows. A test module belongs here when it lies in the mirror of a package of
``trafficmock`` and imports nothing of :data:`OTHERS`, itself or through a helper.
"""

from pathlib import Path
from unittest import TestSuite

from twisted.trial.runner import TestLoader

from tests import unit

SOURCE = Path(__file__).parents[1] / "trafficmock"
OTHERS = {"playwright", "tests.support.processes.node_parts"}
"""Browsers, and Node with the npm packages."""


def oldest_modules() -> list[str]:
    """Name the test modules of the product's packages, without those that need more."""
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    return sorted(
        module
        for module in unit.test_modules()
        if module.split(".")[1] in packages or module.count(".") == 1
        if not unit.reaches(module, OTHERS)
    )


def test_suite() -> TestSuite:
    """Load the tests, for trial."""
    return TestLoader().loadByNames(oldest_modules())
