"""The shape of the source: who imports whom, what tests reach, how long functions are."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests import unit

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "trafficmock"

ALLOWED = {
    "errors": set[str](),
    "coercers": {"errors"},
    "connection_errors": set[str](),
    "texts": {"errors"},
    "redaction": {"errors", "texts", "wire"},
    "file_locks": set[str](),
    "whole_files": set[str](),
    "matching": {"errors", "texts"},
    "wire": {"errors"},
    "http": {"errors", "texts", "wire"},
    "records": {"texts", "wire"},
    "core": {"errors", "matching", "records", "texts", "wire"},
    "history": {"errors", "matching", "records", "redaction", "wire"},
    "certificates": {"errors", "file_locks", "whole_files"},
    "proxy": {"certificates", "errors", "http", "matching", "records", "texts", "wire"},
    "server": {"certificates", "coercers", "core", "errors", "history", "http", "matching", "proxy"}
    | {"records", "redaction", "report", "texts", "whole_files", "wire"},
    "report": {"errors", "redaction", "texts", "whole_files"},
    "telemetry": {"coercers", "errors", "http", "records", "redaction", "texts", "wire"},
    "attach": {"certificates", "connection_errors", "errors", "http", "texts", "wire"},
    "command": {"attach", "certificates", "coercers", "connection_errors", "errors", "redaction"}
    | {"report", "texts", "whole_files"},
    "dashboard": {"attach", "coercers", "errors", "http", "server", "texts"},
    "testing": {"attach", "certificates", "errors", "file_locks", "matching", "report", "texts"}
    | {"whole_files", "wire"},
    "cli": {"errors"},
    "__main__": {"cli"},
}
"""What each package or module at the top may import of the others: downward only."""

COMPOSITION_ROOT = "tap"
"""Builds everything and may import all of it but the console script."""

SESSION = ("session.arguments", "session.handlers", "session.observation")

INNER = {
    "matching": {"patterns": set[str](), ".": {"patterns"}},
    "redaction": {"places": {"."}, ".": {"places"}},
    "wire": {
        "payloads": set[str](),
        "waits": {".", "payloads"},
        ".": {"payloads", "waits"},
    },
    "core": {
        "har": {"answers"},
        "state": {".", "answers", "local", "ownership"},
        "ownership": {".", "answers", "har", "state"},
        "http": {".", "answers", "har", "isolation", "ownership", "state"},
        "isolation": {".", "ownership", "state"},
        "local": {".", "http", "ownership", "state"},
        "answers": {".", "har", "http", "ownership", "state"},
        "waits": {".", "local", "ownership", "state"},
        "websocket": {".", "ownership", "state"},
        ".": {"answers", "http", "isolation", "local", "ownership", "state", "waits", "websocket"},
    },
    "proxy": {
        "http1": {"."},
        "upstream": {".", "http1"},
        "transfer": {".", "http1", "upstream"},
        "websocket": {".", "http1"},
        "downstream": {".", "http1", "transfer", "upstream", "websocket"},
        "browser_proxy": {".", "downstream", "http1"},
        ".": {"http1", "transfer", "upstream"},
    },
    "server": {
        "diagnosis": {"."},
        "process": set[str](),
        "reports": set[str](),
        "rest": set[str](),
        "websocket": {"."},
        ".": {"diagnosis", "process", "reports", "rest", "websocket"},
    },
    "telemetry": {"otlp": {"."}, ".": {"otlp"}},
    "command": {
        "output": set[str](),
        "rest": {".", "output"},
        "sealing": set[str](),
        ".": {"output", "rest", "sealing"},
    },
    "testing": {
        "session.arguments": {"."},
        "session.observation": {".", "session", "session.arguments"},
        "session.handlers": {".", "session", "session.arguments", "session.observation"},
        "session": {".", *SESSION},
        "objects": {".", "har", "session", *SESSION},
        "objects.blocking": {".", "har", "objects", "session", *SESSION},
        "adapters": {".", "objects", "objects.blocking", "reporting", "session"},
        "har": {".", "session", *SESSION},
        "launch": {"."},
        "reporting": {".", "session", "session.handlers"},
        ".": {
            "adapters",
            "launch",
            "objects",
            "objects.blocking",
            "reporting",
            "session",
            *SESSION,
        },
    },
}
"""What the rooms of a package may import of each other; ``.`` is the package's own files."""

PURE = ("errors", "texts", "matching", "wire", "records", "core", "history")
"""Parts that know no Twisted, no clock and no environment."""

PURE_ROOMS = (
    "telemetry.otlp",
    "proxy.http1",
    "testing.session",
    "testing.session.arguments",
    "testing.session.handlers",
    "testing.session.observation",
)
"""Rooms of other packages of which the same is true."""

IMPURE = {"twisted", "autobahn", "klein", "time", "os", "socket", "random", "secrets"}
IMPURE |= {"threading", "asyncio", "websockets", "pathlib", "zipfile", "io"}

REACHED_THROUGH = {
    "__init__.py": "every test; its function by tests/attach/python",
    "attach/python/sitecustomize.py": "Python loads it, in tests/attach/python",
    "attach/python/trafficmock_preload/clients": "real libraries, in tests/interop/clients/python",
    "command": "commands, in tests/command",
    "core": "the coordinator, by the playbooks of tests/core",
    "proxy/websocket": "the forward proxy, by its harness",
    "redaction/redacted_events.py": "a history that redacts, in tests/redaction",
    "testing": "sessions, and every adapter by the rows of tests/testing",
}
"""Directories and modules that tests do not import, and by what they are reached."""

CIRCLES = {
    "tests own requests, which belong to agents; workers have the tests": {
        "core.state.lifecycle",
        "core.state.peers",
        "core.state.registered",
    },
    "the table of messages names the parts of the coordinator that has it": {
        "core.coordinator",
        "core.message_handlers",
    },
    "a request makes its transfer, which reports to it": {
        "proxy.transfer.proxied_request",
        "proxy.transfer.streamed_mock",
        "proxy.transfer.upstream_transfer",
    },
    "a WebSocket has two sides, which report to it": {
        "proxy.websocket.routed_page",
        "proxy.websocket.routed_server",
        "proxy.websocket.websocket_session",
    },
    "a connection is a link for others, with a queue by its limits": {
        "server.websocket.autobahn_protocol",
        "server.websocket.link",
        "server.websocket.send_queue",
    },
    "the preload names its process, whose children get the same preload": {
        "attach.python.trafficmock_preload.application_name",
        "attach.python.trafficmock_preload.attached_process",
        "attach.python.trafficmock_preload.hooks",
        "attach.python.trafficmock_preload.proxy_tunnel",
    },
    "a request has its response, which has its request, by what shows both to a test": {
        "testing.objects.async_caller",
        "testing.objects.async_request",
        "testing.objects.async_response",
    },
    "the same, made from them for blocking tests": {
        "testing.objects.blocking.caller",
        "testing.objects.blocking.request",
        "testing.objects.blocking.response",
    },
    "a session is made of parts that take the session": {
        "testing.session.handlers.handler_errors",
        "testing.session.handlers.handler_fetches",
        "testing.session.handlers.http_routes",
        "testing.session.handlers.routed_request",
        "testing.session.handlers.websocket_routes",
        "testing.session.handlers.written_stream",
        "testing.session.observation.diagnosis",
        "testing.session.observation.waiting",
        "testing.session.ports",
        "testing.session.required_routes",
        "testing.session.session",
        "testing.session.traffic_report",
        "testing.session.worker_client",
    },
}
"""Modules that import each other, for types at least, and why. Others may not, nor with these."""

SAME_NAME = {
    "__init__": "packages",
    "errors": "the tree for all, and what users of the test side catch",
}
"""Module names that stand in several packages, and why."""

TYPE_NAME = re.compile(r"(?:[A-Z][a-z]+)+(?<!Test)")

SAME_CLASS = {
    "Options": "what Twisted's plugins look for",
    "TestCase": "of unittest, and of trial, which gives its class that name too",
    "TrafficMockError": "the parent of errors, and what an attached application sees",
    "TrafficMockMixin": "of unittest, and of trial",
}
"""Class names that stand in two modules, and why."""


@cache
def modules() -> tuple[Path, ...]:
    return tuple(sorted(SOURCE.rglob("*.py")))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def part(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def room(path: Path) -> str:
    """Name the directory within its package that a file lies in; ``.`` is the package's own."""
    return ".".join(path.relative_to(SOURCE).parts[1:-1]) or "."


@cache
def allowed(path: Path) -> set[str]:
    """Name the parts that a file may import from."""
    name = part(path)
    every = {part(other) for other in modules()} - {"cli", "__main__"}
    mine = every if name == COMPOSITION_ROOT else ALLOWED.get(name, {"errors"})
    return mine | {name, "__version__", "__init__"}


@cache
def imported(path: Path) -> tuple[str, ...]:
    """List the modules that a file imports, wherever in it."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trafficmock"):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield f"{'.' * node.level}{node.module or ''}"


@cache
def module_name(path: Path) -> str:
    """Name a module within the package: ``core.state.peers``."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def circles() -> list[set[str]]:
    """List the sets of modules of which each imports all others, directly or through others."""
    edges = {module_name(path): imported_modules(path) for path in modules()}
    reached = {name: reachable(name, edges) for name in edges}
    found = {
        frozenset(each for each in reached[name] if name in reached[each])
        for name in edges
        if name in reached[name]
    }
    return [set(circle) for circle in found]


def imported_modules(path: Path) -> set[str]:
    """Name the other modules that a module imports, or of which it imports a name."""
    every = {module_name(each) for each in modules()}
    found = set()
    for name in imported(path):
        top, _, rest = name.partition(".")
        inner = {"trafficmock": rest, "trafficmock_preload": f"attach.python.{name}"}.get(top, "")
        found.add(inner if inner in every else inner.rpartition(".")[0])
    return found & every - {module_name(path)}


def reachable(start: str, edges: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = [start]
    while ahead:
        ahead += edges[ahead.pop()] - found
        found |= set(ahead)
    return found


def target_room(name: str) -> tuple[str, str]:
    """Find package and room of an imported name ``trafficmock.package[.room][.module][.name]``."""
    parts = name.split(".")[1:]
    place = SOURCE / parts[0]
    rooms: list[str] = []
    for step in parts[1:]:
        if not (place / step).is_dir():
            break
        place /= step
        rooms.append(step)
    return parts[0], ".".join(rooms) or "."


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

    def test_inner_direction(self) -> None:
        """A room of a package imports only the rooms that :data:`INNER` names."""
        wrong = [
            f"{path.relative_to(ROOT)} imports {name}"
            for path in modules()
            if part(path) in INNER
            for name in imported(path)
            if name.startswith(f"trafficmock.{part(path)}.")
            and target_room(name)[1] not in INNER[part(path)][room(path)] | {room(path)}
        ]
        self.assertEqual(wrong, [])

    def test_every_room_is_known(self) -> None:
        """:data:`INNER` names every room, and only rooms that exist."""
        for package, rooms in INNER.items():
            there = {room(path) for path in modules() if part(path) == package}
            self.assertEqual(rooms.keys(), there)

    def test_pure(self) -> None:
        """What decides and remembers does no I/O and reads neither clock nor environment."""
        wrong = [
            f"{path.relative_to(ROOT)} imports {name}"
            for path in modules()
            if part(path) in PURE or f"{part(path)}.{room(path)}" in PURE_ROOMS
            for name in imported(path)
            if name.split(".")[0] in IMPURE
        ]
        self.assertEqual(wrong, [])

    def test_circles(self) -> None:
        """No modules import each other, not even for types, beyond those of :data:`CIRCLES`."""
        found, known = circles(), CIRCLES.values()
        new = [sorted(each) for each in found if not any(each <= old for old in known)]
        self.assertEqual(new, [])
        gone = [why for why, old in CIRCLES.items() if not any(each <= old for each in found)]
        self.assertEqual(gone, [], "These are no circles any more: remove them here.")

    def test_absolute(self) -> None:
        """No import is relative."""
        wrong = [str(path) for path in modules() for name in imported(path) if name[:1] == "."]
        self.assertEqual(wrong, [])


class NameTests(SynchronousTestCase):
    """A name says which thing is meant."""

    def test_modules(self) -> None:
        """No two modules share their name."""
        names = Counter(path.stem for path in modules())
        shared = {name for name, count in names.items() if count > 1}
        self.assertEqual(shared - SAME_NAME.keys(), set())

    def test_classes(self) -> None:
        """No two modules have a class, or another type, of the same name."""
        places = {(name, path) for path in modules() for name in types_of(path)}
        names = Counter(name for name, _ in places)
        shared = {name for name, count in names.items() if count > 1}
        self.assertEqual(shared, set(SAME_CLASS))


class ReachedTests(SynchronousTestCase):
    """A module that does something is imported by a test, or by a neighbour that is."""

    def test_imported(self) -> None:
        """Within a directory, what a reached module imports is reached."""
        missing = [str(path) for path in unreached() if not reached_through(path)]
        self.assertEqual(missing, [], "Import these in tests, or say here what reaches them.")

    def test_exceptions_are_needed(self) -> None:
        """Each entry of :data:`REACHED_THROUGH` has modules that no test imports."""
        self.assertEqual(REACHED_THROUGH.keys() - set(map(reached_through, unreached())), set())


def types_of(path: Path) -> Iterator[str]:
    """Name the classes of a module, and what it assigns to names in capitalised words."""
    for node in nodes(path):
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for each in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(each, ast.Name) and TYPE_NAME.fullmatch(each.id):
                    yield each.id


@cache
def unreached() -> tuple[Path, ...]:
    """List the modules that do something, and that no test reaches by its imports."""
    named = {name for module in unit.files() for name in unit.imports(module)}
    names = {module_name(path): path for path in modules()}
    ahead = {each for each in names if named & {f"trafficmock.{each}", preload_name(each)}}
    reached = set[str]()
    while ahead:
        reached |= ahead
        ahead = {
            other
            for each in ahead
            for other in imported_modules(names[each]) - reached
            if names[other].parent == names[each].parent
        }
    return tuple(
        path.relative_to(SOURCE)
        for each, path in names.items()
        if acts(path) and each not in reached
    )


def preload_name(module: str) -> str:
    """Name a module as it is imported from the directory that Python gets in its path."""
    return module.removeprefix("attach.python.")


def reached_through(place: Path) -> str | None:
    """Name the entry of :data:`REACHED_THROUGH` that a module falls under, if any."""
    return next((key for key in REACHED_THROUGH if place.is_relative_to(key)), None)


def acts(path: Path) -> bool:
    """Tell whether a module has a function with a body: most others declare structures."""
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (len(node.body) > 1 or ast.get_docstring(node) is None)
        for node in nodes(path)
    )


class SharedHelperTests(SynchronousTestCase):
    """What tests and benchmarks share lies in ``tests.support``."""

    def test_benchmarks(self) -> None:
        """Benchmarks import nothing else of the tests."""
        wrong = [
            f"{path.relative_to(ROOT)} imports {name}"
            for path in (ROOT / "benchmarks").rglob("*.py")
            for name in imported(path)
            if name.split(".")[0] == "tests" and not name.startswith("tests.support")
        ]
        self.assertEqual(wrong, [])

    def test_tests(self) -> None:
        """Tests import nothing of the benchmarks, but those of the benchmarks themselves."""
        wrong = [
            f"{module} imports {name}"
            for module in unit.files()
            if not module.startswith("tests.benchmarks.")
            for name in unit.imports(module)
            if name.split(".")[0] == "benchmarks"
        ]
        self.assertEqual(wrong, [])

    def test_support(self) -> None:
        """It imports no other tests."""
        wrong = [
            f"{module} imports {name}"
            for module in unit.files()
            if module.startswith("tests.support.")
            for name in unit.imports(module)
            if name.startswith("tests.") and not name.startswith("tests.support")
        ]
        self.assertEqual(wrong, [])


class SizeTests(SynchronousTestCase):
    """No function grows out of hand; most are far smaller than this bound."""

    MOST_FUNCTION_LINES = 80

    def test_functions(self) -> None:
        """No function is long."""
        long = {
            f"{path.relative_to(ROOT)}:{node.name}": (node.end_lineno or 0) - node.lineno
            for path in modules()
            for node in nodes(path)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or 0) - node.lineno > self.MOST_FUNCTION_LINES
        }
        self.assertEqual(long, {})
