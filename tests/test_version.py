"""The version stands in one place."""

import json

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY
from trafficmock import __version__

FILES = ("package.json", "package-lock.json")


class VersionTests(SynchronousTestCase):
    """What takes its version from ``trafficmock/__init__.py``."""

    def test_npm_packages(self) -> None:
        """Their files have it: ``npm run version:take`` in their directories writes them."""
        paths = [f"{path}/{name}" for path in ("agent", "playwright") for name in FILES]
        for path in (*paths, "proxy/package.json"):
            found = json.loads((REPOSITORY / path).read_text(encoding="utf-8"))
            self.assertEqual(found["version"], __version__, path)
