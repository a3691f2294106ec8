"""An application that records the signals it gets: ``python -m … FILE ENDS_ON [NAMES…]``.

It writes ``NAME ready``, then ``NAME SIGTERM`` and so on, and ends on the signal ``ENDS_ON``.
Each further name is a child of the one before, in the same process group.
"""

import os
import signal
import subprocess
import sys
from types import FrameType

RECORDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1)


def main(path: str, ends_on: str, name: str, *below: str) -> None:
    """Record until the end."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def record(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - of the standard library
        got = signal.Signals(number).name
        os.write(file, f"{name} {got}\n".encode())
        if got == ends_on:
            os._exit(0)

    for number in RECORDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, record)
    if below:
        subprocess.Popen([sys.executable, "-m", __spec__.name, path, ends_on, *below])
    os.write(file, f"{name} ready {os.getpid()}\n".encode())
    while True:
        signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
