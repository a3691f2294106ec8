"""``python -m tests.interop.clients.faults [CLIENT…]``: run the clients, and print the table."""

import sys
import tempfile
from pathlib import Path

from tests.interop.clients.faults.fault_table import FAILED, ClientFaults, fault_table
from tests.interop.clients.faults.outcomes import WAYS, fault_stage


def main(names: list[str]) -> int:
    """
    Run the clients of these names, or all.

    :returns: 1 when a cell failed.
    """
    with tempfile.TemporaryDirectory() as folder, fault_stage(Path(folder)) as stage:
        found = [
            ClientFaults(client, way, stage.outcomes(client, way))
            for way, clients in WAYS.items()
            for client in clients
            if not client.missing() and (not names or client.name in names)
        ]
    text = fault_table(found)
    sys.stdout.write(text)
    return int(FAILED in text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
