"""``python -m tests.clients.node [-n NODE] [-m MODE] [-c CALL] [LIBRARY…]``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.clients.node.bench import bench
from tests.clients.node.cells import cells
from tests.clients.node.libraries import LIBRARIES, NODES
from tests.clients.node.modes import ATTACHED
from tests.clients.node.report import table


def main() -> int:
    """
    Run the libraries that are asked for, and print the table.

    :returns: 1 when a cell failed.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.clients.node", description=__doc__)
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY")
    parser.add_argument("-n", "--node", type=int, action="append", choices=NODES)
    parser.add_argument("-m", "--mode", action="append", choices=ATTACHED)
    parser.add_argument("-c", "--call", default="", help="a regular expression")
    options = parser.parse_args()
    wanted = [each for each in LIBRARIES if not options.libraries or each.name in options.libraries]
    results = []
    with tempfile.TemporaryDirectory() as folder, bench(Path(folder)) as ready:
        for library in wanted:
            for node in options.node or library.nodes:
                if node in library.nodes:
                    modes = options.mode or ATTACHED
                    for cell in cells(ready, library, node, modes, options.call):
                        results.append(cell)
                        sys.stderr.write(f"{cell}\n")
    sys.stdout.write(table(results))
    return int(any(not cell.is_good for cell in results))


if __name__ == "__main__":
    sys.exit(main())
