"""``export``: what the export to a collector (OTLP) adds to the CPU of a request.

With ``--instructions`` it counts them, as the subcommand ``instructions`` does.
"""

from __future__ import annotations

import contextlib
import shlex
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path

from benchmarks import options as common
from benchmarks import targets
from benchmarks.commands import instructions
from benchmarks.commands.collector_sink import collector
from benchmarks.figures import Figures, cpu_ratio
from benchmarks.forward.loads import LOADS as FORWARD_LOADS
from benchmarks.forward.loads import ForwardLoad, Way
from benchmarks.forward.mocker import Mocker
from benchmarks.forward.server import upstream
from benchmarks.forward.session import ForwardSession
from benchmarks.forward.targets import ours as forward_ours
from benchmarks.generator.event_loop import EventLoop
from benchmarks.generator.loads import LOADS, Load
from benchmarks.report import cpu, table, write_json
from benchmarks.rounds import in_turns, side_by_side
from benchmarks.targets import running

RATIO_AT_MOST = 1.05
_USUAL = ("one-route", "many-workers", "plain", "mocked")


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    common.add_target(parser)
    common.add_run_options(parser, rounds=7)
    parser.add_argument(
        "--instructions", action="store_true", help="count instructions in place of time"
    )
    names = [load.name for load in (*LOADS, *FORWARD_LOADS)]
    parser.add_argument(
        "--load", action="append", choices=names, help=f"default: {', '.join(_USUAL)}"
    )


def run(options: Namespace) -> bool:
    """Measure each load without and with the export, in turns; return whether the limit is kept."""
    names = options.load or _USUAL
    wanted = [load for load in (*LOADS, *FORWARD_LOADS) if load.name in names]
    amount = common.run_options(options)
    rows, ratios = [], {}
    with collector() as url:
        if options.instructions:
            return instructions.compare(wanted, _counted(url, amount.scale), amount.scale)
        for load in wanted:
            measure = _forward if isinstance(load, ForwardLoad) else _agents
            off, on = measure(load, ("--otlp-endpoint", url), amount)  # type: ignore[arg-type] # as chosen
            ratios[load.name] = cpu_ratio(on, off)
            ratio = f"{ratios[load.name]:.3f}"
            rows.append([load.title, cpu(off), cpu(on), ratio, str(RATIO_AT_MOST)])
            print(f"{load.title}: {ratio}", flush=True)
    head = ("load", "CPU µs, no export", "CPU µs, export", "ratio", "at most")
    print(table(head, rows))
    if options.json:
        write_json(options.json, {}, ratios)
    return all(ratio <= RATIO_AT_MOST for ratio in ratios.values())


def _counted(url: str, scale: float) -> dict[str, str]:
    """Return the commands to count; one batch is sent while the requests of a load are counted."""
    settings = f"OTEL_BSP_MAX_EXPORT_BATCH_SIZE={int(instructions.REQUESTS * scale)}"
    export = shlex.join(targets.ours(("--otlp-endpoint", url)).command)
    return {
        "no export": shlex.join(targets.ours().command),
        "export": f"env {settings} OTEL_BSP_SCHEDULE_DELAY=86400000 {export}",
    }


def _agents(load: Load, extra: tuple[str, str], amount: common.RunOptions) -> list[Figures]:
    return side_by_side([(targets.ours(), load), (targets.ours(extra), load)], amount)


def _forward(load: ForwardLoad, extra: tuple[str, str], amount: common.RunOptions) -> list[Figures]:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trafficmock-bench-")))
        ports = stack.enter_context(upstream(folder))
        loop = EventLoop()
        stack.callback(loop.close)
        pairs = []
        for name, more in (("off", ()), ("on", extra)):
            (folder / name).mkdir()
            command = shlex.join(targets.ours(more).command)
            measured = forward_ours(folder / name, folder / "upstream.pem", load.way, command)
            proxy = stack.enter_context(running(measured.target))
            if load.way is Way.MOCKED:
                stack.callback(Mocker(loop, proxy.address).close)
            session = ForwardSession(loop, proxy.address, load, ports, measured.certificate(proxy))
            stack.callback(session.close)
            pairs.append((session, proxy))
        return in_turns(pairs, amount)
