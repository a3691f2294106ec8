"""What takes long: the fixtures with several versions of Playwright, and in Vitest."""

from __future__ import annotations

from tests.agent.test_deep import install
from tests.playwright import test_package
from tests.support.hypothesis_profiles import DEEP


class DeepTests(test_package.PackageTestCase):
    """Run with ``tox -e deep``."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def test_versions(self) -> None:
        """Older versions of Playwright, repeats, shards and retries, and another runner."""
        install(test_package.PACKAGE / "test" / "deep", "vitest")
        self.check("deep/versions.test.mjs")
