"""
``profile``: the functions in which our proxy spends its time under one load.

If py-spy is installed, it samples the process from outside, which does not slow it
down, and its collapsed stacks are written for a flame graph. Otherwise, or on
request, twistd runs under cProfile, which counts calls but adds time to each.
"""

from __future__ import annotations

import contextlib
import pstats
import shutil
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks import targets
from benchmarks.errors import BenchmarkError
from benchmarks.generator.event_loop import EventLoop
from benchmarks.generator.loads import LOADS, Load
from benchmarks.generator.session import Session
from benchmarks.targets import Running, Target, running

_SAMPLES_PER_SECOND = 500
_LINES = 40


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    parser.add_argument("load", choices=[load.name for load in LOADS])
    parser.add_argument("--output", type=Path, default=Path("profile.txt"))
    parser.add_argument("--duration", type=int, default=15, help="seconds of load")
    parser.add_argument("--cprofile", action="store_true", help="use cProfile even with py-spy")


def run(options: Namespace) -> bool:
    """Profile, write the file, and print the functions that take most time."""
    load = next(load for load in LOADS if load.name == options.load)
    sampler = _find_sampler()
    if sampler and not options.cprofile:
        _sample(sampler, load, options.output, options.duration)
        _print_shares(options.output.read_text("utf-8").splitlines())
    else:
        _count_calls(load, options.output, options.duration)
    print(f"\nwritten to {options.output}")
    return True


def _find_sampler() -> str | None:
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


def _drive(target: Target, load: Load, busy: Callable[[Running], Iterable[None]]) -> None:
    """Start ``target`` and send requests as long as the iterable of ``busy`` yields."""
    with running(target) as proxy, contextlib.closing(EventLoop()) as loop:
        session = Session(loop, proxy.address, load)
        session.run(load.warmup, 300)
        for _ in busy(proxy):
            session.run(load.requests // 10 + 1, 300)
        session.close()


def _sample(sampler: str, load: Load, output: Path, duration: int) -> None:
    def busy(proxy: Running) -> Iterable[None]:
        arguments = ["record", "--pid", str(proxy.pid), "--format", "raw", "--output", str(output)]
        limits = ["--function", "--duration", str(duration), "--rate", str(_SAMPLES_PER_SECOND)]
        with subprocess.Popen(
            [sampler, *arguments, *limits], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as child:
            while child.poll() is None:
                yield
            if child.returncode:
                said = child.stderr.read().decode("utf-8", "replace") if child.stderr else ""
                raise BenchmarkError(f"py-spy failed: {said.strip()[-500:]}")

    _drive(targets.ours(), load, busy)


def _print_shares(stacks: list[str]) -> None:
    """Print the functions of collapsed stacks with their shares of all samples."""
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for line in stacks:
        stack, _, count = line.rpartition(" ")
        functions = stack.split(";")
        own[functions[-1]] += int(count)
        for function in set(functions):
            total[function] += int(count)
    samples = sum(own.values())
    print("   own  with callees")
    print("\nby package")
    layers: Counter[str] = Counter()
    for function, busy in own.items():
        layers[_package(function)] += busy
    for layer, busy in layers.most_common():
        print(f"{busy / samples:6.1%}         {layer}")
    print("\nby own time")
    for function, _ in own.most_common(_LINES):
        print(f"{own[function] / samples:6.1%} {total[function] / samples:6.1%}  {function}")
    print("\nby time with callees")
    for function, busy in total.most_common(_LINES):
        print(f"{own[function] / samples:6.1%} {busy / samples:6.1%}  {function}")


def _package(function: str) -> str:
    """Return the package of ``name (path/to/module.py:line)``, two levels deep."""
    if "<attrs generated" in function:
        return "attrs, generated"
    path = function.rpartition("(")[2].partition(":")[0]
    return ".".join(path.split("/")[:-1][:2]) or path


def _count_calls(load: Load, output: Path, duration: int) -> None:
    stats = output.with_suffix(".pstats")
    profiler = ("--profile", str(stats.resolve()), "--profiler", "cprofile", "--savestats")

    def busy(_: Running) -> Iterable[None]:
        until = time.monotonic() + duration
        while time.monotonic() < until:
            yield

    _drive(targets.ours(twistd=profiler), load, busy)
    with output.open("w", encoding="utf-8") as sink:
        pstats.Stats(str(stats), stream=sink).sort_stats("tottime").print_stats(_LINES)
    print(output.read_text("utf-8"))
