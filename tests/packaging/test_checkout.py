"""The environment of the tests is an editable install: from anywhere, twistd knows the plugin."""

import sys

from twisted.trial.unittest import SynchronousTestCase

from tests.packaging.installs import call


class PluginTests(SynchronousTestCase):
    """What ``pip install -e .`` promises."""

    def test_twistd(self) -> None:
        """``twistd`` lists both services, whatever directory it is run in."""
        shown = call(sys.executable, "-m", "twisted", "--help")
        for service in ("trafficmock", "trafficmock-dashboard"):
            self.assertRegex(shown, rf"(?m)^ +{service} ")
