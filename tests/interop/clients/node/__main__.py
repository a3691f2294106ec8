"""
``python -m tests.interop.clients.node [-n NODE] [-m MODE] [-c CALL] [--json FILE] [LIBRARY…]``.

With ``--saved FILE``, which may be repeated, nothing is run: the table is made of the results
that ``--json FILE`` wrote. npm packages and Nodes that are missing are installed first.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.interop.clients.node.bench import bench
from tests.interop.clients.node.cells import Cell, cells
from tests.interop.clients.node.libraries import LIBRARIES, NODES, prepare
from tests.interop.clients.node.modes import MODES
from tests.interop.clients.node.report import table
from tests.interop.clients.node.saved import load, save

UNDER = tuple(mode.name for mode in MODES.values() if mode.against)
"""The modes under the agent."""


def main() -> int:
    """
    Run the libraries that are asked for, and print the table.

    :returns: 1 when a cell failed.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tests.interop.clients.node", description=__doc__
    )
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY")
    parser.add_argument("-n", "--node", type=int, action="append", choices=NODES)
    parser.add_argument("-m", "--mode", action="append", choices=UNDER)
    parser.add_argument("-c", "--call", default="", help="a regular expression")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to it")
    parser.add_argument(
        "--saved", type=Path, action="append", metavar="FILE", help="print what --json wrote"
    )
    options = parser.parse_args()
    if options.json and options.call:
        parser.error("--json keeps results of all calls: leave out --call")
    unknown = set(options.libraries) - {library.name for library in LIBRARIES}
    if unknown:
        parser.error(f"no library is called {', '.join(sorted(unknown))}")
    # By an exception, so that what runs is ended: programs have process groups of their own.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    results = load(options.saved) if options.saved else list(run(options))
    sys.stdout.write(table(results))
    return int(any(not cell.is_good for cell in results))


def run(options: argparse.Namespace) -> Iterator[Cell]:
    """Run what is asked for, and write the results so far after each library."""
    wanted = [each for each in LIBRARIES if not options.libraries or each.name in options.libraries]
    nodes = [
        node for node in options.node or NODES if any(node in library.nodes for library in wanted)
    ]
    prepare(wanted, nodes)
    results = []
    with tempfile.TemporaryDirectory() as folder, bench(Path(folder)) as ready:
        for library in wanted:
            for node in options.node or library.nodes:
                if node in library.nodes:
                    modes = [
                        each for each in options.mode or library.modes if each in library.modes
                    ]
                    for cell in cells(ready, library, node, modes, options.call):
                        results.append(cell)
                        sys.stderr.write(f"{cell}\n")
                        yield cell
                    if options.json:
                        save(options.json, results)


if __name__ == "__main__":
    sys.exit(main())
