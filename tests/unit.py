"""The tests that start no process and open no connection: ``python -m twisted.trial tests.unit``.

A test module belongs here by its imports: neither it nor a helper that it imports may import what
starts processes or opens connections. While these tests run, starting a process or connecting
a socket raises an error all the same, because the product could do it too.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import TestSuite

from twisted.trial.runner import TestLoader

TESTS = Path(__file__).parent
OUTSIDE = {"http.client", "http.server", "multiprocessing", "playwright", "pty", "pytest"}
OUTSIDE |= {"socket", "subprocess"}
"""Modules that reach beyond the process of the test."""

FORBIDDEN = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "socket.connect"}
FORBIDDEN |= {"subprocess.Popen"}
"""Audit events that no unit test may cause (:pep:`578`)."""


@cache
def files() -> dict[str, Path]:
    """Map the names of all modules of tests to their files."""
    names = {}
    for path in TESTS.rglob("*.py"):
        if "node_modules" not in path.parts:
            parts = path.relative_to(TESTS.parent).with_suffix("").parts
            names[".".join(parts).removesuffix(".__init__")] = path
    return names


@cache
def imports(module: str) -> frozenset[str]:
    """Name all that a module of tests imports, wherever in it."""
    return frozenset(_imports(ast.parse(files()[module].read_text(encoding="utf-8"))))


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{name.name}" for name in node.names)


def reached(module: str) -> set[str]:
    """Name all that a module of tests imports, itself and through other modules of tests."""
    found: set[str] = set()
    ahead = {module}
    while ahead:
        new = {name for one in ahead & files().keys() for name in imports(one)} - found
        found |= new
        ahead = new
    return found


def reaches(module: str, names: set[str]) -> bool:
    """Tell whether a module of tests imports one of these, or a part of one, in any way."""
    return any(
        name == one or name.startswith(f"{one}.") for name in reached(module) for one in names
    )


def test_modules() -> list[str]:
    """Name all modules that hold tests."""
    return [module for module in files() if module.rpartition(".")[2].startswith("test_")]


def unit_modules() -> list[str]:
    """Name the test modules that stay within their process."""
    return sorted(module for module in test_modules() if not reaches(module, OUTSIDE))


def forbid(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse what :data:`FORBIDDEN` names; an audit hook."""
    if event in FORBIDDEN:
        raise AssertionError(f"a unit test may not cause {event} {arguments!r}")


def test_suite() -> TestSuite:
    """Load the tests, for trial, and let none of them leave the process from here on."""
    suite = TestLoader().loadByNames(unit_modules())
    sys.addaudithook(forbid)
    return suite
