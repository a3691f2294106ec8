"""What is said where trafficmock is installed without its extra for tests."""

import sys
from importlib.util import find_spec, module_from_spec
from unittest import mock

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.errors import LocalError

NAME = "trafficmock.testing.adapters.background_connection"


class ExtraTests(SynchronousTestCase):
    """The package websockets is missing."""

    def test_websockets(self) -> None:
        """The extra is named that brings it."""
        spec = find_spec(NAME)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        with mock.patch.dict(sys.modules, {"websockets.asyncio.client": None}):
            error = self.assertRaises(LocalError, spec.loader.exec_module, module)
        self.assertIn("pip install '.[testing]'", str(error))
