"""``compare``: all loads on our proxy and on the npm proxy, in turns, within one run."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import options as common
from benchmarks import targets
from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.generator.loads import LOADS, Load
from benchmarks.report import Comparison, comparison_table, write_json
from benchmarks.rounds import on_new_processes, side_by_side
from benchmarks.targets import Target

Measurement = Callable[[Sequence[tuple[Target, Load]]], list[Figures]]


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    common.add_target(parser)
    common.add_run_options(parser, rounds=9)
    parser.add_argument(
        "--load",
        action="append",
        choices=[load.name for load in LOADS],
        help="only this load; may be repeated",
    )
    parser.add_argument(
        "--new-processes",
        type=int,
        metavar="REQUESTS",
        help="measure the first requests of new processes, in each round",
    )
    parser.add_argument("--npm", metavar="COMMAND", help="another proxy in place of the npm proxy")
    parser.add_argument("--node", metavar="PATH", help="Node binary (default: npm's node@22)")
    parser.add_argument(
        "--cache",
        type=Path,
        default=targets.default_cache(),
        help="where the npm packages are kept (default: %(default)s)",
    )


def run(options: Namespace) -> bool:
    """Measure, print the table, and return whether all goals are reached."""
    one = common.target(options)
    if options.npm:
        two = targets.from_command("npm", options.npm)
    else:
        two = targets.npm(options.cache, options.node)
    print(f"{one.name}: {one.version}\n{two.name}: {two.version}\n", flush=True)
    wanted = [load for load in LOADS if not options.load or load.name in options.load]
    rows = _rows(wanted, one, two, _measurement(options))
    print(comparison_table(rows, (one.name, two.name)))
    if options.json:
        about = {one.name: one.version, two.name: two.version}
        write_json(options.json, about, [row.as_dict() for row in rows])
    return len(rows) == len(wanted) and all(row.reached for row in rows)


def _measurement(options: Namespace) -> Measurement:
    """Return the function that measures a load on both sides."""
    amount, requests = common.run_options(options), options.new_processes
    if requests is None:
        return lambda sides: side_by_side(sides, amount)
    return lambda sides: on_new_processes(sides, amount, requests)


def _rows(wanted: list[Load], one: Target, two: Target, measure: Measurement) -> list[Comparison]:
    """Measure load by load; report one that fails, and go on with the others."""
    rows = []
    for load in wanted:
        try:
            figures = measure([(one, load), (two, load)])
        except BenchmarkError as error:
            print(f"{load.title}: {error}", file=sys.stderr, flush=True)
            continue
        rows.append(Comparison(load, *figures))
        print(f"{load.title}: {rows[-1].cpu_ratio:.2f}", file=sys.stderr, flush=True)
    return rows
