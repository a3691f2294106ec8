"""The libraries under the agent: a few on the machine's Node, all on each with DEEP."""

import atexit
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stderr
from functools import cache
from io import StringIO
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.node import __main__ as command
from tests.interop.clients.node import libraries
from tests.interop.clients.node.bench import Bench, bench
from tests.interop.clients.node.cells import cells
from tests.interop.clients.node.libraries import LIBRARIES, NODES, Library, machine_node, prepare
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.npm_packages import install

USUAL = ("passthrough", "mock", "fallback")
"""The modes that are not left to the deep tests."""


@cache
def shared() -> Bench:
    """Give the bench that all libraries of this test run use."""
    held = ExitStack()
    atexit.register(held.close)
    folder = held.enter_context(tempfile.TemporaryDirectory())
    return held.enter_context(bench(Path(folder)))


class LibraryTests(SynchronousTestCase):
    """A library does under the agent what it does without, but for what is declared."""

    def check(self, library: Library, node: int, modes: Sequence[str]) -> None:
        found = list(cells(shared(), library, node, modes))
        self.assertEqual("\n".join(str(cell) for cell in found if not cell.is_good), "")
        self.assertTrue(all(cell.calls for cell in found))

    def test_usual(self) -> None:
        """The libraries that are always tried, passed and mocked."""
        for library in LIBRARIES:
            if not library.deep:
                modes = [mode for mode in library.modes if mode in USUAL]
                self.check(library, machine_node(), modes)

    def test_all(self) -> None:
        """All libraries, on each Node that they support."""
        for library in LIBRARIES:
            install(library.folder)
            for node in library.nodes:
                self.check(library, node, library.modes)

    if not DEEP:
        test_all.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]


class PrepareTests(SynchronousTestCase):
    """What is brought before a run."""

    def test_all(self) -> None:
        """Packages of each directory once, and every Node, wherever it comes from."""
        folders: list[Path] = []
        self.patch(libraries, "install", folders.append)
        self.patch(libraries, "node_22", lambda: "its 22")
        self.patch(libraries, "module_file", lambda name: name)
        self.patch(libraries, "machine_node", lambda: 0)
        nodes: list[str] = []
        self.patch(libraries, "deep_node", nodes.append)
        self.addCleanup(libraries.node_binary.cache_clear)
        libraries.node_binary.cache_clear()
        prepare(LIBRARIES, NODES)
        rooms = [libraries.PLACE, libraries.DEEP, libraries.AGENTS, libraries.VENDORS]
        self.assertEqual(sorted(folders), sorted(rooms))
        self.assertEqual(nodes, ["node20", "node26"])

    def test_unknown(self) -> None:
        """A library that there is not is an error, and nothing is run."""
        self.patch(sys, "argv", ["node", "axios", "axois"])
        with redirect_stderr(StringIO()) as said:
            self.assertRaises(SystemExit, command.main)
        self.assertIn("no library is called axois", said.getvalue())
