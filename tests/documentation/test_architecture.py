"""The picture of the packages."""

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY
from tools import architecture


class PictureTests(SynchronousTestCase):
    """Drawn from the imports."""

    def test_up_to_date(self) -> None:
        """The picture is as the source is; ``python -m tools.architecture`` draws it anew."""
        self.assertEqual(architecture.PICTURE.read_text(encoding="utf-8"), architecture.draw())

    def test_all_packages(self) -> None:
        """Every package of the product is in the picture."""
        packages = {path.parent.name for path in (REPOSITORY / "trafficmock").glob("*/__init__.py")}
        self.assertEqual(packages - architecture.MEANINGS.keys(), set())
