"""The version stands in one place."""

import json

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY
from trafficmock import __version__


class VersionTests(SynchronousTestCase):
    """What takes its version from ``trafficmock/__init__.py``."""

    def test_npm_packages(self) -> None:
        """Their files have it: ``npm run version:take`` in their directories writes them."""
        for path in ("agent", "playwright"):
            for name in ("package.json", "package-lock.json"):
                found = json.loads((REPOSITORY / path / name).read_text(encoding="utf-8"))
                self.assertEqual(found["version"], __version__, f"{path}/{name}")
