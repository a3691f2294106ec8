"""The program that tests start: ``trafficmock``, which ends when no process holds its lease.

``python -m trafficmock.testing.launch.leased_proxy LEASE serve …``
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
from pathlib import Path
from typing import IO

from trafficmock.testing.launch.lease import wait_until_free


def main() -> None:
    """Run the command ``trafficmock``, and send it ``SIGTERM`` when the lease is free."""
    # Opened before the proxy serves: the process that started it may then remove the file.
    lease = Path(sys.argv.pop(1)).open("a")  # noqa: SIM115 - held to the end
    threading.Thread(target=_end_without_holders, args=(lease,), daemon=True).start()
    runpy.run_module("trafficmock", run_name="__main__", alter_sys=True)


def _end_without_holders(lease: IO[str]) -> None:
    wait_until_free(lease)
    if sys.platform == "win32":
        # os.kill would end the process at once; the handler of the signal closes connections.
        signal.raise_signal(signal.SIGTERM)
    else:
        os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
