"""``routes``: CPU of a request with few and with many registered routes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from benchmarks import options as common
from benchmarks.figures import cpu_ratio
from benchmarks.generator.loads import Load
from benchmarks.report import cpu, table, write_json
from benchmarks.rounds import side_by_side

RATIO_AT_MOST = 1.5
_ROUTES_PER_TEST = 5
_FEW = 10
# The shape of the routes, and whether requests match one of them.
_CASES = (
    ("host", True),
    ("host", False),
    ("host-per-test", True),
    ("any-host", True),
    ("any-host", False),
    ("star-host", True),
    ("braces", True),
    ("regex", True),
    ("one-url-json", True),
    ("one-url-json", False),
    ("foreign-predicate", False),
)


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    common.add_target(parser)
    common.add_run_options(parser, rounds=5)
    parser.add_argument("--many", type=int, default=10_000, help="routes (default: %(default)s)")
    parser.add_argument("--shape", action="append", choices=sorted({name for name, _ in _CASES}))


def run(options: Namespace) -> bool:
    """Measure each shape with few and many routes, and return whether the limit is kept."""
    target = common.target(options)
    rows = []
    ratios: dict[str, float] = {}
    for shape, hits in _CASES:
        if options.shape and shape not in options.shape:
            continue
        sides = [(target, _load(shape, count, hits=hits)) for count in (_FEW, options.many)]
        few, many = side_by_side(sides, common.run_options(options))
        value = cpu_ratio(many, few)
        name = f"{shape}, {'one matches' if hits else 'none matches'}"
        rows.append([name, cpu(few), cpu(many), f"{value:.2f}", _verdict(value)])
        ratios[name] = value
        print(f"{name}: {value:.2f}", flush=True)
    head = ("routes", f"CPU µs, {_FEW}", f"CPU µs, {options.many}", "ratio", "≤ 1.5")
    print(table(head, rows))
    if options.json:
        write_json(options.json, {target.name: target.version}, ratios)
    return all(value <= RATIO_AT_MOST for value in ratios.values())


def _verdict(value: float) -> str:
    return "yes" if value <= RATIO_AT_MOST else "NO"


def _load(shape: str, count: int, *, hits: bool) -> Load:
    return Load(
        name=f"{shape}-{count}",
        title=f"{count} routes",
        tests=count // _ROUTES_PER_TEST,
        routes=_ROUTES_PER_TEST,
        in_flight=8,
        hits=hits,
        shape=shape,
        requests=3000,
    )
