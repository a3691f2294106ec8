"""Puts the Node agent, as one bundled file, into the Python package.

Everything else about the package stands in ``setup.cfg``.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

AGENT = Path(__file__).parent / "agent"
SHIPPED = ("register.js", "index.js", "index.d.ts", "THIRD-PARTY-LICENSES")
BUNDLED = ("esbuild", "ws")
"""What the bundle needs of the agent's npm packages; the others are for its tests."""


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
        elif not bundle(npm, Path(self.get_finalized_command("build").build_temp) / "agent"):
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


def bundle(npm: str, directory: Path) -> bool:
    """Run the agent's own build, with the packages of the checkout or some installed for it.

    :param npm: the path of npm.
    :param directory: where npm packages may be installed.
    :returns: whether it worked.
    """
    build = [npm, "run", "build"]
    if (AGENT / "node_modules" / "esbuild").exists():
        return subprocess.call(build, cwd=AGENT) == 0
    directory.mkdir(parents=True, exist_ok=True)
    lock = json.loads((AGENT / "package-lock.json").read_text())
    for name, content in locked(lock, BUNDLED).items():
        (directory / name).write_text(json.dumps(content))
    install = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    if subprocess.call(install, cwd=directory) != 0:
        return False
    return subprocess.call([*build, "--", str(directory.absolute())], cwd=AGENT) == 0


def locked(lock: dict, names: tuple[str, ...]) -> dict[str, dict]:
    """Reduce a lock file to some of its packages, in the versions that it has.

    :param lock: npm's lock file, version 3, decoded.
    :param names: the packages; what they depend on is taken along.
    :returns: ``package.json`` and ``package-lock.json`` for ``npm ci``.
    """
    packages, kept, wanted = lock["packages"], {}, list(names)
    while wanted:
        path = f"node_modules/{wanted.pop()}"
        if path in kept:
            continue
        kept[path] = {key: value for key, value in packages[path].items() if key != "dev"}
        wanted += [*kept[path].get("dependencies", ()), *kept[path].get("optionalDependencies", ())]
    versions = {name: packages[f"node_modules/{name}"]["version"] for name in names}
    manifest = {"name": "bundle", "private": True, "dependencies": versions}
    return {
        "package.json": manifest,
        "package-lock.json": {**lock, "name": "bundle", "packages": {"": manifest, **kept}},
    }


setup(cmdclass={"build_py": BuildWithAgent})
