"""``python -m tests.clients [CLIENT…]``: run the cells, and print them as a table."""

import sys
import tempfile
from pathlib import Path

from tests.clients.clients import ATTACHED, CLIENTS
from tests.clients.matrix import Result, client_matrix
from tests.clients.table import table


def main(names: list[str]) -> int:
    """
    Run the clients of these names, or all.

    :returns: 1 when a cell failed.
    """
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder, client_matrix(Path(folder)) as ready:
        for client in (*CLIENTS, *ATTACHED):
            if names and client.name not in names:
                continue
            why = client.missing()
            results += [Result(client.name, "", "", "n/a", why)] if why else ready.run(client)
    sys.stdout.write(table(results))
    return int(any(result.state == "FAILED" for result in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
