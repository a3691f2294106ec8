"""``replies``: fixed responses that the proxy sends, against a handler with the same response."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from benchmarks import options as common
from benchmarks.figures import cpu_ratio
from benchmarks.generator.loads import Load
from benchmarks.report import cpu, table, write_json
from benchmarks.rounds import side_by_side
from trafficmock.wire.features import OF_WORKERS

RATIO_AT_MOST = 0.7
"""For one request at a time: with many in flight, handlers' answers come together and cost less."""
_IN_FLIGHT = (1, 16)


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    common.add_target(parser)
    common.add_run_options(parser, rounds=7)


def run(options: Namespace) -> bool:
    """Measure both in turns, and return whether the limit is kept."""
    target = common.target(options)
    rows = []
    ratios: dict[str, float] = {}
    for in_flight in _IN_FLIGHT:
        sides = [(target, _load(in_flight, replies=replies)) for replies in (False, True)]
        handler, reply = side_by_side(sides, common.run_options(options))
        ratios[str(in_flight)] = ratio = cpu_ratio(reply, handler)
        wanted = str(RATIO_AT_MOST) if in_flight == 1 else "-"
        rows.append([str(in_flight), cpu(handler), cpu(reply), f"{ratio:.2f}", wanted])
    head = ("in flight", "CPU µs, handler", "CPU µs, fixed answer", "ratio", "at most")
    print(table(head, rows))
    if options.json:
        write_json(options.json, {target.name: target.version}, ratios)
    return ratios["1"] <= RATIO_AT_MOST


def _load(in_flight: int, *, replies: bool) -> Load:
    return Load(
        name=f"{'reply' if replies else 'handler'}-{in_flight}",
        title="1 test, 5 routes",
        routes=5,
        in_flight=in_flight,
        features=OF_WORKERS,
        replies=replies,
        requests=3000,
    )
