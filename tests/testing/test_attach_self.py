"""The package's function that attaches the process itself."""

from twisted.trial.unittest import SynchronousTestCase

import trafficmock
from trafficmock.testing import self_attachment


class AttachSelfTests(SynchronousTestCase):
    """The package imports the test side only when it is called."""

    def test_call(self) -> None:
        """The package's own function is that of the test side."""
        self.patch(self_attachment, "attach_self", lambda *args, **named: (args, named))
        self.assertEqual(trafficmock.attach_self(1, direct=["a"]), ((1,), {"direct": ["a"]}))
