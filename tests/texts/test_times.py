"""Times of day in texts."""

import os
import time
from unittest.mock import patch

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.texts.times import time_of_day


class TimeTests(SynchronousTestCase):
    """The time of day."""

    def test_zone(self) -> None:
        """It is that of UTC, wherever the process runs."""
        self.addCleanup(time.tzset)
        with patch.dict(os.environ, {"TZ": "Asia/Kathmandu"}):
            time.tzset()
            self.assertEqual(time_of_day(1_700_000_000_999), "22:13:20")
