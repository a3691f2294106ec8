"""The variable by which Python loads the preload."""

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.attach.python_preload import DIRECTORY, python_variables


class PythonVariablesTests(SynchronousTestCase):
    """``PYTHONPATH``."""

    def test_first(self) -> None:
        """The preload is first, once, and what was there stays behind it."""
        directory = Path("/preload")
        for present in ("", "a", "a:/preload", "/preload:a", "a::"):
            found = python_variables({"PYTHONPATH": present.replace(":", os.pathsep)}, directory)
            others = ["a"] if "a" in present else []
            self.assertEqual(found["PYTHONPATH"].split(os.pathsep), ["/preload", *others])

    def test_off(self) -> None:
        """A variable turns it off; any other value does not."""
        self.assertEqual(python_variables({"TRAFFICMOCK_PYTHON_PRELOAD": "0"}), {})
        self.assertIn("PYTHONPATH", python_variables({"TRAFFICMOCK_PYTHON_PRELOAD": "1"}))

    def test_shipped(self) -> None:
        """The directory has what Python looks for."""
        self.assertTrue((DIRECTORY / "sitecustomize.py").is_file())
