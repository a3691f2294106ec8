"""Puts the Node agent, as one bundled file, into the Python package.

Everything else about the package stands in ``setup.cfg``.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

AGENT = Path(__file__).parent / "agent"
SHIPPED = ("register.js", "index.js", "index.d.ts", "THIRD-PARTY-LICENSES")


class BuildWithAgent(build_py):
    """Bundle the agent where npm is there; without it the package builds all the same."""

    def run(self) -> None:
        """Build the package, then the agent into it; an editable install uses the checkout's."""
        super().run()
        if self.editable_mode:
            return
        npm = shutil.which("npm")
        if npm is None or not (AGENT / "package.json").exists():
            sys.stderr.write("the Node agent is left out: npm is not here\n")
        elif not bundle(npm):
            sys.stderr.write("the Node agent is left out: npm could not build it\n")
        else:
            self.ship()

    def ship(self) -> None:
        """Copy the bundle to where ``trafficmock run`` looks for it."""
        place = Path(self.build_lib) / "trafficmock" / "_agent"
        place.mkdir(parents=True, exist_ok=True)
        for name in SHIPPED:
            shutil.copy(AGENT / "dist" / name, place / name)
        # In a place of its own, since "module" in a package.json above would change its meaning.
        (place / "package.json").write_text('{"name": "trafficmock-agent", "type": "commonjs"}\n')


def bundle(npm: str) -> bool:
    """Run the agent's own build.

    :param npm: the path of npm.
    :returns: whether it worked.
    """
    has_esbuild = (AGENT / "node_modules" / "esbuild").exists()
    steps = [] if has_esbuild else [[npm, "ci", "--no-audit", "--no-fund"]]
    steps.append([npm, "run", "build"])
    return all(subprocess.call(step, cwd=AGENT) == 0 for step in steps)


setup(cmdclass={"build_py": BuildWithAgent})
