"""``forward``: all loads through our forward proxy and through mitmproxy, in turns."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from benchmarks import options as common
from benchmarks import targets
from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.forward.loads import LOADS, ForwardLoad, Way
from benchmarks.forward.mocker import Mocker
from benchmarks.forward.server import upstream
from benchmarks.forward.session import ForwardSession
from benchmarks.forward.targets import MeasuredProxy, mitmproxy, ours
from benchmarks.generator.event_loop import EventLoop
from benchmarks.report import Comparison, cpu, table, write_json
from benchmarks.rounds import in_turns
from benchmarks.targets import running

_HEAD = (
    *("load", "CPU µs ours", "CPU µs mitmproxy", "ratio", "at most", ""),
    *("requests per CPU second", "p50 ms", "p99 ms", "RSS MB", "peak MB"),
)


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    common.add_target(parser)
    common.add_run_options(parser, rounds=5)
    names = [load.name for load in LOADS]
    parser.add_argument(
        "--load", action="append", choices=names, help="only this load; may be repeated"
    )
    parser.add_argument(
        "--only", choices=("ours", "mitmproxy"), help="measure one of the two, without a ratio"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=targets.default_cache(),
        help="where mitmproxy is installed (default: %(default)s)",
    )


def run(options: Namespace) -> bool:
    """Measure, print the table, and return whether all goals are reached."""
    wanted = [load for load in LOADS if not options.load or load.name in options.load]
    rows: list[Comparison] = []
    for load in wanted:
        try:
            with _measured_proxies(options, load) as (proxies, ports):
                figures = _measure(proxies, load, ports, common.run_options(options))
        except BenchmarkError as error:
            print(f"{load.title}: {error}", file=sys.stderr, flush=True)
            continue
        for proxy, taken in zip(proxies, figures, strict=True):
            version = proxy.target.version
            print(f"{load.title}: {proxy.target.name} {version}: {_alone(taken)}", flush=True)
        if len(figures) == 2:
            rows.append(Comparison(load, *figures))
    if options.only is None:
        print(table(_HEAD, [_row(row) for row in rows]))
    if options.json:
        write_json(options.json, {}, [row.as_dict() for row in rows])
    return options.only is not None or (
        len(rows) == len(wanted) and all(row.reached for row in rows)
    )


@contextlib.contextmanager
def _measured_proxies(
    options: Namespace, load: ForwardLoad
) -> Iterator[tuple[list[MeasuredProxy], tuple[int, int]]]:
    """Start the upstream server; yield the proxies to measure, and the server's two ports."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trafficmock-bench-")))
        ports = stack.enter_context(upstream(folder))
        pem = folder / "upstream.pem"
        both = []
        for name in ("ours", "mitmproxy"):
            if options.only not in {None, name}:
                continue
            (folder / name).mkdir()
            if name == "ours":
                both.append(ours(folder / name, pem, load.way, options.ours))
            else:
                both.append(mitmproxy(folder / name, pem, options.cache, load.way))
        yield both, ports


def _measure(
    proxies: list[MeasuredProxy],
    load: ForwardLoad,
    ports: tuple[int, int],
    amount: common.RunOptions,
) -> list[Figures]:
    with contextlib.ExitStack() as stack:
        loop = EventLoop()
        stack.callback(loop.close)
        pairs = []
        for measured in proxies:
            proxy = stack.enter_context(running(measured.target))
            if load.way is Way.MOCKED and measured.target.name == "ours":
                stack.callback(Mocker(loop, proxy.address).close)
            session = ForwardSession(loop, proxy.address, load, ports, measured.certificate(proxy))
            stack.callback(session.close)
            pairs.append((session, proxy))
        return in_turns(pairs, amount)


def _alone(figures: Figures) -> str:
    return (
        f"{figures.cpu_us:,.0f} µs, p50 {figures.p50_ms:.1f} ms, "
        f"{figures.resident_mb:.0f} MB, peak {figures.peak_mb:.0f} MB"
    )


def _row(row: Comparison) -> list[str]:
    ours, theirs = row.ours, row.theirs
    return [
        row.load.title,
        cpu(ours),
        cpu(theirs),
        f"{row.cpu_ratio:.2f}",
        f"{row.load.cpu_target or 0:.2f}",
        "yes" if row.cpu_ratio <= (row.load.cpu_target or 0) else "NO",
        f"{1e6 / ours.cpu_us:,.0f} / {1e6 / theirs.cpu_us:,.0f}",
        f"{ours.p50_ms:.1f} / {theirs.p50_ms:.1f}",
        f"{ours.p99_ms:.1f} / {theirs.p99_ms:.1f}",
        (
            f"{ours.resident_mb:.0f} / {theirs.resident_mb:.0f}, lower: "
            f"{'yes' if ours.resident_mb < theirs.resident_mb else 'NO'}"
        ),
        f"{ours.peak_mb:.0f} / {theirs.peak_mb:.0f}",
    ]
