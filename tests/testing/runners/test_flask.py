"""The Flask application of the documentation, tested with pytest as a reader would."""

import shutil
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.testing import runs

FOLDER = runs.REPOSITORY / "docs" / "examples" / "flask"


class FlaskTests(SynchronousTestCase):
    """An application in another language than Node, with nothing changed in it."""

    def test_pytest(self) -> None:
        """Its https calls are answered, watched and failed by the handlers of its tests."""
        folder = Path(self.mktemp()).resolve() / "flask"
        shutil.copytree(FOLDER, folder)
        environment = {**runs.LEAN, "XDG_DATA_HOME": str(folder.parent / "data")}
        output = runs.run(*runs.lean_pytest(), environment=environment, cwd=folder)
        self.assertIn("5 passed", output, output)
