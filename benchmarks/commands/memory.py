"""``memory``: resident memory of the proxy after many large requests, against its limit."""

from __future__ import annotations

import contextlib
import time
from argparse import ArgumentParser, Namespace

from benchmarks import options as common
from benchmarks.generator.event_loop import EventLoop
from benchmarks.generator.loads import Load
from benchmarks.generator.session import Session
from benchmarks.report import table, write_json
from benchmarks.targets import running
from tests.support.processes import process_usage

_DEFAULT_BUDGET = 128 * 1024 * 1024
_ALLOWANCE = 80_000_000
_STEPS = 20


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    common.add_target(parser)
    parser.add_argument("--requests", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--body-bytes", type=int, default=50_000, help="default: %(default)s")
    parser.add_argument(
        "--budget",
        type=int,
        default=_DEFAULT_BUDGET,
        help="the proxy's own limit for what it remembers, in bytes (default: %(default)s)",
    )
    parser.add_argument(
        "--seconds", type=float, default=900.0, help="limit of the whole run (default: %(default)s)"
    )


def run(options: Namespace) -> bool:
    """Send the requests, print the memory, and return whether its peak is within the limit."""
    target = common.target(options)
    load = Load(
        name="memory",
        title="1 test, 5 routes, 8 in flight",
        routes=5,
        in_flight=8,
        request_bytes=options.body_bytes,
        response_bytes=options.body_bytes,
    )
    step = max(1, options.requests // _STEPS)
    rows = []
    deadline = time.monotonic() + options.seconds
    with running(target) as proxy, contextlib.closing(EventLoop()) as loop:
        session = Session(loop, proxy.address, load)
        for done in range(step, options.requests + 1, step):
            session.run(step, deadline - time.monotonic())
            now = process_usage.memory(proxy.pid)
            rows.append([f"{done:,}", f"{now.resident / 1e6:.0f}", f"{now.peak / 1e6:.0f}"])
        session.settle()
        last = process_usage.memory(proxy.pid)
        session.close()
    limit: int = options.budget + _ALLOWANCE
    print(table(("requests", "RSS MB", "peak MB"), rows))
    print(f"peak {last.peak / 1e6:.0f} MB, wanted at most {limit / 1e6:.0f} MB")
    if options.json:
        write_json(options.json, {target.name: target.version}, {"end": last, "limit": limit})
    return last.peak <= limit
