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
ATTRIBUTE = re.compile(r":ivar (\w+):")
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"[\w.-]+(/[\w.-]+)*/?")
NAME = re.compile(r"(?!.*\.(?:py|js|mjs|ts|md|json|yaml)$)\w+(\.\w+)*")

NO_PATHS = {
    "--follow": "an option",
    "--help": "an option",
    "components/parameters": "a place in docs/openapi.yaml",
}
"""What looks like a path in ``CONTRIBUTING.md``, and what it is."""


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


class AttributeTests(SynchronousTestCase):
    """A class's docstring names its attributes."""

    def test_existing(self) -> None:
        """Those that it names exist."""
        for path in sorted(path for source in SOURCES for path in source.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    named = set(ATTRIBUTE.findall(ast.get_docstring(node) or ""))
                    missing = named and named - attributes(node)
                    self.assertFalse(missing, f"{path.relative_to(ROOT)}: {node.name}")


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


class ContributingTests(SynchronousTestCase):
    """``CONTRIBUTING.md`` leads from a question to a file, and to a name in it."""

    def test_paths(self) -> None:
        """The files and directories that it names exist."""
        for paragraph in contributing():
            there = existing(paragraph)
            missing = {path for path in paths(paragraph) if path not in there} - NO_PATHS.keys()
            self.assertEqual(missing, set(), paragraph[:80])

    def test_names(self) -> None:
        """The names in a row of its table stand in the files of the row."""
        for row in contributing():
            answer = row.partition(" | ")[2]
            names = {
                each.rpartition(".")[2] for each in CODE.findall(answer) if NAME.fullmatch(each)
            }
            if row.startswith("| ") and names:
                words = {
                    word
                    for path in existing(answer).values()
                    for file in (path.rglob("*.py") if path.is_dir() else [path])
                    for word in ANY_NAME.findall(file.read_text(encoding="utf-8"))
                }
                self.assertEqual(names - words, set(), row[:80])


def attributes(definition: ast.ClassDef) -> set[str]:
    """Name what a class declares, its properties, and what it sets in its methods."""
    found = {each.name for each in definition.body if isinstance(each, ast.FunctionDef)}
    for statement in definition.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            found |= {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
    for each in ast.walk(definition):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            found.add(each.attr)
    return found


def contributing() -> list[str]:
    """List the rows and the paragraphs of ``CONTRIBUTING.md``, from its map on."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = text.partition("\n## Where things are")[2]
    return [part for part in re.split(r"\n\n|\n(?=\| )", text) if part]


def paths(text: str) -> list[str]:
    return [
        each for each in CODE.findall(text) if PATH.fullmatch(each) and not NAME.fullmatch(each)
    ]


def existing(text: str) -> dict[str, Path]:
    """Find the paths in a text, of which some are relative to others: ``claims.py`` *beside it*."""
    found: dict[str, Path] = {}
    bases = {ROOT}
    # One may be relative to a later one, which is relative itself.
    for path in paths(text) * 3:
        places = sorted(base / path for base in bases if (base / path).exists())
        if places:
            place = found.setdefault(path, places[0])
            bases |= {each for each in (place, *place.parents) if ROOT in (each, *each.parents)}
    return found
