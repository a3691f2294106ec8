"""The variable by which Python loads the preload."""

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.attach.python_preload import DIRECTORY, python_variables, runs_python


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

    def test_runs_python(self) -> None:
        """A Python process is known by its name, and a script by its first line."""
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        for name, line, wanted in (
            ("python3.9", "", True),
            ("pypy3", "", True),
            ("gunicorn", "#!/venv/bin/python3.11 -s", True),
            ("flask", "#!/usr/bin/env python", True),
            ("pythonista", "#!/bin/sh", False),
            ("npm", "#!/usr/bin/env node", False),
        ):
            script = folder / name
            script.write_text(f"{line}\n")
            script.chmod(0o755)
            self.assertIs(runs_python(name, str(folder)), wanted, name)
        self.assertFalse(runs_python("missing", str(folder)))

    def test_shipped(self) -> None:
        """The directory has what Python looks for."""
        self.assertTrue((DIRECTORY / "sitecustomize.py").is_file())
