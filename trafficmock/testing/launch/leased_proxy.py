"""The proxy as tests start it: it ends by itself when nobody holds its lease any more.

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
    """Watch the lease on a thread, and be the command ``trafficmock`` otherwise."""
    # Opened before the proxy serves: whoever started it may remove the file from then on.
    lease = Path(sys.argv.pop(1)).open("a")  # noqa: SIM115 - held to the end
    threading.Thread(target=_end_without_holders, args=(lease,), daemon=True).start()
    runpy.run_module("trafficmock", run_name="__main__", alter_sys=True)


def _end_without_holders(lease: IO[str]) -> None:
    wait_until_free(lease)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
