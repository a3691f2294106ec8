"""What takes long: several versions of Playwright, Vitest, and the packed package installed."""

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

    def test_packed(self) -> None:
        """What npm packs installs into an empty project of strict TypeScript, and works there."""
        self.check("deep/pack.test.mjs")
