"""
``python -m tests.interop.clients [CLIENT…]``: run the cells, and print them as tables.

Clients that are told of the proxy and processes that load the preload have a table each.
"""

import sys
import tempfile
from pathlib import Path

from tests.interop.clients.clients import ATTACHED, CLIENTS, Client
from tests.interop.clients.matrix import ClientMatrix, Result, client_matrix
from tests.interop.clients.table import table


def main(names: list[str]) -> int:
    """
    Run the clients of these names, or all.

    :returns: 1 when a cell failed.
    """
    tables: list[list[Result]] = []
    with tempfile.TemporaryDirectory() as folder, client_matrix(Path(folder)) as ready:
        for clients in (CLIENTS, ATTACHED):
            wanted = [client for client in clients if not names or client.name in names]
            tables.append([result for client in wanted for result in _run(ready, client)])
    sys.stdout.write("\n".join(table(results) for results in tables if results))
    return int(any(result.state == "FAILED" for results in tables for result in results))


def _run(ready: ClientMatrix, client: Client) -> list[Result]:
    why = client.missing()
    return [Result(client.name, "", "", "n/a", why)] if why else list(ready.run(client))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
