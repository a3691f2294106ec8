"""The maps of the source: each package, and each directory of JavaScript, names what it holds."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

ROOT = Path(__file__).parents[1]
TESTS = tuple(ROOT / "tests" / room for room in ("dashboard", "hostile", "support", "testing"))
SOURCES = (ROOT / "trafficmock", ROOT / "benchmarks", *TESTS)
JAVASCRIPT = (ROOT / "agent" / "src", ROOT / "playwright" / "src")

ANY_NAME = re.compile(r"\w+")
MODULE = re.compile(r":mod:`[~.]*([\w.]+)`")
SCRIPT = re.compile(r"`([\w./-]+\.js)`")


def packages() -> Iterator[tuple[Path, str]]:
    """List the packages' directories with their docstrings."""
    for path in sorted(path for source in SOURCES for path in source.rglob("__init__.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield path.parent, ast.get_docstring(tree) or ""


def parts(package: Path) -> set[str]:
    """Name the modules and packages in a package, tests apart."""
    inner = {path.parent.name for path in package.glob("*/__init__.py")}
    modules = {path.stem for path in package.glob("*.py")}
    return inner | {name for name in modules if not name.startswith(("__", "test_"))}


def contents(directory: Path) -> set[str]:
    """Name the scripts and the directories in a directory of scripts, as its README does."""
    inner = {f"{path.name}/" for path in directory.iterdir() if path.is_dir()}
    return inner | {path.name for path in directory.glob("*.js")}


class PackageMapTests(SynchronousTestCase):
    """A package's docstring is the map of its directory."""

    def test_complete(self) -> None:
        """It names each module and each package in it."""
        for directory, text in packages():
            missing = parts(directory) - set(ANY_NAME.findall(text))
            self.assertEqual(missing, set(), directory.relative_to(ROOT))

    def test_existing(self) -> None:
        """What it names as a module exists."""
        stems = {path.stem for source in SOURCES for path in source.rglob("*.py")}
        stems |= {directory.name for directory, _ in packages()}
        for directory, text in packages():
            named = {name.rpartition(".")[2] for name in MODULE.findall(text)}
            self.assertEqual(named - stems, set(), directory.relative_to(ROOT))


class ScriptMapTests(SynchronousTestCase):
    """``README.md`` is the map of a directory of scripts."""

    def test_complete(self) -> None:
        """It names each script and each directory in it."""
        for directory in JAVASCRIPT:
            text = (directory / "README.md").read_text(encoding="utf-8")
            missing = {name for name in contents(directory) if f"`{name}`" not in text}
            self.assertEqual(missing, set(), directory.relative_to(ROOT))

    def test_existing(self) -> None:
        """The scripts that it names exist."""
        for directory in JAVASCRIPT:
            text = (directory / "README.md").read_text(encoding="utf-8")
            there = {path.name for path in directory.rglob("*.js")}
            named = {name.rpartition("/")[2] for name in SCRIPT.findall(text)}
            self.assertEqual(named - there, set(), directory.relative_to(ROOT))
