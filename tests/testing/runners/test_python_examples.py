"""The Python applications of the documentation, tested with pytest as their pages show it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.documents import blocks, shows
from tests.support.hypothesis_profiles import DEEP
from tests.testing import runs

DOCS = runs.REPOSITORY / "docs"


class PythonExampleTests(SynchronousTestCase):
    """Each page's example works as it stands, and prints what the page says."""

    def check(self, page: str, *libraries: str) -> None:
        path = DOCS / "how-to" / "attach" / f"{page}.md"
        (sample,) = [block.text for block in blocks(path) if block.language == "text"]
        folder = Path(self.mktemp()).resolve() / page
        shutil.copytree(DOCS / "examples" / page.removesuffix("s"), folder)
        environment = {**runs.LEAN, "XDG_DATA_HOME": str(folder.parent / "data")}
        if libraries:
            place = str(folder.parent / "libraries")
            install = ["-m", "pip", "install", "--quiet", "--target", place, *libraries]
            subprocess.run([sys.executable, *install], check=True, timeout=600)
            environment["PYTHONPATH"] = os.pathsep.join((str(runs.REPOSITORY), place))
        output = runs.run(*runs.lean_pytest(), "-q", environment=environment, cwd=folder)
        self.assertTrue(shows(output, sample), output)

    def test_flask(self) -> None:
        """Flask."""
        self.check("flask")

    def test_django(self) -> None:
        """Django under its own server."""
        self.check("django")

    def test_fastapi(self) -> None:
        """FastAPI under uvicorn, with a background task."""
        self.check("fastapi")

    def test_celery(self) -> None:
        """A worker of Celery, which is installed for it."""
        self.check("celery", "celery")

    def test_scripts(self) -> None:
        """A script that each test starts anew."""
        self.check("scripts")

    if not DEEP:
        for each in (test_django, test_fastapi, test_celery, test_scripts):
            each.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]
