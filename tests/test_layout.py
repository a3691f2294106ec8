"""The shape of the source: who imports whom, and what is tested where."""

import ast
from collections.abc import Iterator
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "trafficmock"
TESTS = ROOT / "tests"

ALLOWED = {
    "errors": set[str](),
    "matching": {"errors"},
    "wire": {"errors"},
    "core": {"errors", "matching", "wire"},
    "history": {"errors", "matching", "wire"},
    "certs": {"errors"},
    "joining": {"errors", "certs", "words"},
    "attach": {"coercers", "errors", "certs", "joining", "supervision", "words"},
    "supervision": {"errors"},
    "ca": {"errors", "certs"},
    "command": {"errors", "joining", "words"},
    "dashboard": {"coercers", "errors", "joining", "logs", "net", "options", "starting"},
    "starting": {"daemon", "errors", "logs"},
    "net": {"errors", "matching", "wire", "core", "history", "certs", "words"},
    "testing": {"errors", "matching", "wire", "certs", "joining", "words"},
    "options": {"coercers", "errors", "logs", "net"},
    "cli": {"errors"},
    "__main__": {"cli"},
}
"""What each part may import of the others: downward only. Small modules beside them that
``tap`` puts to use may import ``errors``; ``tap`` builds everything and may import all of it."""

PURE = ("errors", "matching", "wire", "core", "history")
"""Parts that know no Twisted, no clock and no environment."""

TESTING_ADAPTERS = {
    "aio.py",
    "asyncio_world.py",
    "awaitable.py",
    "background.py",
    "blocking_world.py",
    "connection.py",
    "launch.py",
    "lease.py",
    "leased_proxy.py",
    "loop_thread.py",
    "pool.py",
    "pytest_plugin.py",
    "route.py",
    "traffic_mock.py",
    "shared_proxy.py",
    "sync.py",
    "trial.py",
    "tx.py",
    "tx_connection.py",
    "tx_views.py",
    "tx_world.py",
}
"""Files of the test side that do I/O; the others decide, and are pure."""

IMPURE = {"twisted", "autobahn", "klein", "time", "os", "socket", "random", "secrets"}
IMPURE |= {"threading", "asyncio", "websockets"}

TESTED_TOGETHER = {
    "core": "through the coordinator, by the playbooks of tests/core",
    "testing": "through sessions in tests/testing, and through every adapter by the rows there",
    "wire": "by the samples and the codec's tests of tests/wire",
    "__init__.py": "packages say only what they hold",
    "side.py": "a protocol and nothing else; its one class is tested in test_client.py",
    "__main__.py": "two lines, run by tests/test_cli.py",
}
"""Sources without a test file of their own name, and where they are tested."""


def modules() -> Iterator[Path]:
    return (path for path in sorted(SOURCE.rglob("*.py")))


def part(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def allowed(path: Path) -> set[str]:
    """Name the parts that a file may import from."""
    name = part(path)
    above = {"cli", "__main__"}
    every = {part(other) for other in modules()} - above
    mine = every if name == "tap" else ALLOWED.get(name, {"errors"})
    return mine | {name, "__version__"}


def imported(path: Path) -> Iterator[str]:
    """List the modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "trafficmock":
            yield from (f"trafficmock.{name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield f"{'.' * node.level}{node.module or ''}"


class ImportTests(SynchronousTestCase):
    """Imports go downward only."""

    def test_direction(self) -> None:
        """A part imports only the parts below it."""
        wrong = [
            f"{path.relative_to(ROOT)} imports {name}"
            for path in modules()
            for name in imported(path)
            if name.startswith("trafficmock.") and name.split(".")[1] not in allowed(path)
        ]
        self.assertEqual(wrong, [])

    def test_pure(self) -> None:
        """What decides and remembers does no I/O and reads neither clock nor environment."""
        wrong = [
            f"{path.relative_to(ROOT)} imports {name}"
            for path in modules()
            if part(path) in PURE or (part(path) == "testing" and path.name not in TESTING_ADAPTERS)
            for name in imported(path)
            if name.split(".")[0] in IMPURE
        ]
        self.assertEqual(wrong, [])

    def test_absolute(self) -> None:
        """No import is relative."""
        wrong = [str(path) for path in modules() for name in imported(path) if name[:1] == "."]
        self.assertEqual(wrong, [])


class TestFileTests(SynchronousTestCase):
    """Every source file has its test file."""

    def test_mirrored(self) -> None:
        """``trafficmock/a/b.py`` is tested in ``tests/a/test_b.py`` or a ``test_b_*.py``."""
        missing = [
            str(path.relative_to(ROOT))
            for path in modules()
            if not {part(path), path.name} & TESTED_TOGETHER.keys() and not test_files(path)
        ]
        self.assertEqual(missing, [])

    def test_exceptions_are_needed(self) -> None:
        """The list of exceptions names only what exists."""
        there = {path.name for path in modules()} | {part(path) for path in modules()}
        self.assertEqual(TESTED_TOGETHER.keys() - there, set())


def test_files(path: Path) -> list[Path]:
    folder = TESTS / path.relative_to(SOURCE).parent
    return [*folder.glob(f"test_{path.stem}.py"), *folder.glob(f"test_{path.stem}_*.py")]


class SizeTests(SynchronousTestCase):
    """No file and no function grows out of hand; most are far smaller than these bounds."""

    MOST_LINES = 400
    MOST_FUNCTION_LINES = 80

    def test_files(self) -> None:
        """No source file is long."""
        long = {
            str(path.relative_to(ROOT)): lines
            for path in modules()
            if (lines := len(path.read_text(encoding="utf-8").splitlines())) > self.MOST_LINES
        }
        self.assertEqual(long, {})

    def test_functions(self) -> None:
        """No function is long."""
        long = {
            f"{path.relative_to(ROOT)}:{node.name}": (node.end_lineno or 0) - node.lineno
            for path in modules()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or 0) - node.lineno > self.MOST_FUNCTION_LINES
        }
        self.assertEqual(long, {})
