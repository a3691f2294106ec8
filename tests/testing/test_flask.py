"""The Flask application of the documentation, tested with pytest as a reader would."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

REPOSITORY = Path(__file__).parents[2]
FOLDER = REPOSITORY / "docs" / "examples" / "flask"
PLUGIN = "trafficmock.testing.pytest_plugin"
CHILD_SECONDS = 120.0
_OURS = ("TRAFFICMOCK_", "_PROXY")


class FlaskTests(SynchronousTestCase):
    """An application in another language than Node, with nothing changed in it."""

    def test_pytest(self) -> None:
        """Its https calls are answered, watched and failed by the handlers of its tests."""
        folder = Path(self.mktemp()).resolve() / "flask"
        shutil.copytree(FOLDER, folder)
        env = {k: v for k, v in os.environ.items() if not any(o in k.upper() for o in _OURS)}
        env |= {"PYTHONPATH": str(REPOSITORY), "XDG_DATA_HOME": str(folder.parent / "data")}
        installed = any(each.value == PLUGIN for each in entry_points(group="pytest11"))
        plugin = () if installed else ("-p", PLUGIN)
        finished = subprocess.run(
            [sys.executable, "-m", "pytest", *plugin],
            env=env,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=CHILD_SECONDS,
            check=False,
        )
        self.assertIn("5 passed", finished.stdout, finished.stdout)
