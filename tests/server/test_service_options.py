"""The options that both services share; ``test_options`` and the dashboard's tests parse them."""

import subprocess
import sys

from twisted.trial.unittest import SynchronousTestCase


class ImportTests(SynchronousTestCase):
    """What the dashboard loads."""

    def test_no_forward_proxy(self) -> None:
        """The dashboard's options load neither the forward proxy nor the core."""
        program = (
            "import sys; import trafficmock.dashboard.dashboard_options\n"
            "print([name for name in ('proxy', 'core', 'history') "
            "if f'trafficmock.{name}' in sys.modules])"
        )
        argv = [sys.executable, "-c", program]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "[]\n")
