"""Starts the upstream server."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.errors import BenchmarkError

_CHECKOUT = Path(__file__).parents[2]


@contextlib.contextmanager
def upstream(folder: Path) -> Iterator[tuple[int, int]]:
    """
    Run :mod:`benchmarks.forward.upstream` until the end of the block.

    :param folder: the directory for its certificate.
    :returns: its two ports: plain, and with TLS.
    :raises BenchmarkError: the server did not start.
    """
    command = [sys.executable, "-m", "benchmarks.forward.upstream", str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_CHECKOUT
    ) as server:
        if server.stdout is None:
            raise BenchmarkError("the upstream server has no output")
        line = server.stdout.readline()
        if not line:
            raise BenchmarkError("the upstream server did not start")
        said = json.loads(line)
        # The end of the block closes its standard input, and with that it ends.
        yield said["plain"], said["secure"]
