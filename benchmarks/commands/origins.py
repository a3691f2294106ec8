"""``origins``: CPU of a Python process for where a request without a context comes from."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

import trafficmock
from benchmarks.report import table

RATIO_AT_MOST = 0.2
_COUNT = 1000
_DEPTHS = (0, 10, 40)


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    parser.add_argument("--rounds", type=int, default=40, help="of each (default: %(default)s)")


def run(options: Namespace) -> bool:
    """Measure the lines that the preload adds to a request, by the depth of the stack.

    While no test with a context runs, the proxy does not ask for it.

    :returns: whether a request then costs at most :data:`RATIO_AT_MOST` of one that is asked for.
    """
    # A process has this directory in its path when it is attached.
    sys.path.insert(0, str(Path(trafficmock.__file__).parent / "attach" / "python"))
    from trafficmock_preload.current_context import TestContexts  # noqa: PLC0415 - see above

    contexts = TestContexts(30)
    rows, ratios = [], []
    for depth in _DEPTHS:
        micros = []
        for asked in (False, True):
            contexts.ask_origins(asked)
            micros.append(min(_micros(depth, contexts.outgoing) for _ in range(options.rounds)))
        ratios.append(micros[0] / micros[1])
        rows.append([str(depth), *(f"{each:.1f}" for each in micros), f"{ratios[-1]:.2f}"])
    print(table(("functions deep", "CPU µs, not asked for", "CPU µs, asked for", "ratio"), rows))
    return all(ratio <= RATIO_AT_MOST for ratio in ratios)


def _micros(depth: int, send: Callable[[], object]) -> float:
    """Return the CPU µs of a request, without those of the functions above it."""
    return (_seconds(depth, send) - _seconds(depth, int)) / _COUNT * 1e6


def _seconds(depth: int, act: Callable[[], object]) -> float:
    begun = time.process_time()
    for _ in range(_COUNT):
        _deep(depth, act)
    return time.process_time() - begun


def _deep(depth: int, act: Callable[[], object]) -> object:
    return _deep(depth - 1, act) if depth else act()
