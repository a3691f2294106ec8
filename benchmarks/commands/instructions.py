"""
``instructions``: instructions of the proxy for a request, before a change and after it.

Callgrind counts the instructions of the proxy process outside the kernel, but for collections of
garbage. Other processes on the machine do not change the count, so differences of one percent are
visible.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import subprocess
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from benchmarks import options as common
from benchmarks.errors import BenchmarkError
from benchmarks.forward.loads import LOADS as FORWARD_LOADS
from benchmarks.forward.loads import ForwardLoad, Way
from benchmarks.forward.mocker import Mocker
from benchmarks.forward.server import upstream
from benchmarks.forward.session import ForwardSession
from benchmarks.forward.targets import MeasuredProxy
from benchmarks.generator.event_loop import EventLoop
from benchmarks.generator.loads import LOADS, Load
from benchmarks.generator.session import Session
from benchmarks.report import table
from benchmarks.targets import Running, Target, ours, running

RATIO_AT_MOST = 1.05
_SECONDS = 3000.0
_FILL = 1400
"""Requests before the first load: more than the history holds, so that it evicts entries."""

_COUNTS = {"megabyte": (12, 45), "plain-large": (12, 20), "secure-new": (60, 10)}
REQUESTS = 600
_USUAL_COUNTS = (REQUESTS, REQUESTS)
"""The number of counted requests, and of requests before them to warm up.

A batch of the export has as many spans. With these numbers it is full, and is written and sent,
in the midst of the counted requests, once for each load.
"""

_TOTALS = re.compile(r"^totals: (\d+)", re.MULTILINE)
_COLLECTION = re.compile(r"^c?fn=\((\d+)\) gc_collect_main$", re.MULTILINE)
"""The number of the function of CPython that collects garbage, in callgrind's output."""


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    common.add_target(parser)
    parser.add_argument(
        "--before", metavar="COMMAND", required=True, help="the proxy to compare with, as --ours"
    )
    names = [load.name for load in (*LOADS, *FORWARD_LOADS)]
    parser.add_argument(
        "--load", action="append", choices=names, help="only this load; may be repeated"
    )


def run(options: Namespace) -> bool:
    """Count, print the table, and return whether no load needs more than 5 % more instructions."""
    wanted = [
        load for load in (*LOADS, *FORWARD_LOADS) if not options.load or load.name in options.load
    ]
    command = options.ours or shlex.join(ours().command)
    return compare(wanted, {"before": options.before, "now": command})


def compare(
    loads: Sequence[Load | ForwardLoad], commands: Mapping[str, str], scale: float = 1.0
) -> bool:
    """Count, print the table, and return whether no load needs more than 5 % more instructions.

    :param commands: two proxies, by what the table calls them; the second is judged.
    :param scale: multiplies the numbers of requests.
    """
    rows, ratios = [], []
    with _sides(list(commands.values())) as (sides, ports):
        for load in loads:
            first, second = (side.count(load, ports, scale) for side in sides)
            ratios.append(second / first)
            rows.append([load.title, f"{first:,.0f}", f"{second:,.0f}", f"{ratios[-1]:.3f}"])
            print(" ".join(rows[-1]), flush=True)
    print(table(("load", *(f"instructions, {name}" for name in commands), "ratio"), rows))
    return all(ratio <= RATIO_AT_MOST for ratio in ratios)


@frozen
class _Side:
    """
    A proxy under callgrind.

    :param proxy: its process.
    :param counts: the path of callgrind's output files, without their numbers.
    """

    proxy: Running
    counts: Path
    loop: EventLoop

    def fill(self) -> None:
        """Fill the history, so that it evicts entries from then on."""
        session = Session(self.loop, self.proxy.address, LOADS[0])
        session.run(_FILL, _SECONDS)
        session.close()

    def count(self, load: Load | ForwardLoad, ports: tuple[int, int], scale: float) -> float:
        """Return the instructions of one request.

        :param ports: of the upstream server: plain, and with TLS.
        :param scale: multiplies the number of requests.
        :raises BenchmarkError: callgrind wrote no totals, or a request failed.
        """
        requests, warmup = (int(n * scale) for n in _COUNTS.get(load.name, _USUAL_COUNTS))
        with contextlib.ExitStack() as stack:
            session = self._session(load, ports, stack)
            session.run(warmup, _SECONDS)
            session.settle()
            self._tell("instrumentation", "on")
            session.run(requests, _SECONDS)
            session.settle()
            self._tell("dump")
            self._tell("instrumentation", "off")
        newest = max(self.counts.parent.glob(f"{self.counts.name}.*"), key=_number)
        output = newest.read_text("utf-8")
        found = _TOTALS.search(output)
        if found is None:
            raise BenchmarkError(f"callgrind wrote no totals to {newest}")
        return (int(found[1]) - _of_collections(output)) / requests

    def _session(
        self, load: Load | ForwardLoad, ports: tuple[int, int], stack: contextlib.ExitStack
    ) -> Session | ForwardSession:
        session: Session | ForwardSession
        if isinstance(load, ForwardLoad):
            if load.way is Way.MOCKED:
                stack.callback(Mocker(self.loop, self.proxy.address).close)
            pem = MeasuredProxy(self.proxy.target, None).certificate(self.proxy)
            session = ForwardSession(self.loop, self.proxy.address, load, ports, pem)
        else:
            session = Session(self.loop, self.proxy.address, load)
        stack.callback(session.close)
        return session

    def _tell(self, *command: str) -> None:
        vgdb = shutil.which("vgdb")
        if vgdb is None:
            raise BenchmarkError(
                "valgrind is not installed: its vgdb turns the counting on and off"
            )
        subprocess.run([vgdb, f"--pid={self.proxy.pid}", *command], check=True, capture_output=True)


def _of_collections(output: str) -> int:
    """Return the instructions of collections of garbage.

    One takes several millions, which is 2 % of the counted requests, and comes with each 2000
    requests or so: it would be in the count of one side only.
    """
    function = _COLLECTION.search(output)
    if function is None:
        return 0
    calls = rf"^cfn=\({function[1]}\).*\ncalls=.*\n\S+ (\d+)$"
    return sum(map(int, re.findall(calls, output, re.MULTILINE)))


def _number(path: Path) -> int:
    return int(path.suffix[1:])


@contextlib.contextmanager
def _sides(commands: list[str]) -> Iterator[tuple[list[_Side], tuple[int, int]]]:
    """Start both proxies under callgrind, and the upstream server."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trafficmock-bench-")))
        ports = stack.enter_context(upstream(folder))
        loop = EventLoop()
        stack.callback(loop.close)
        sides = []
        for number, command in enumerate(commands):
            counts = folder / f"side-{number}"
            target = _under_callgrind(command, counts, folder)
            proxy = stack.enter_context(running(target, seconds=_SECONDS))
            sides.append(_Side(proxy, counts, loop))
            sides[-1].fill()
        yield sides, ports


def _under_callgrind(command: str, counts: Path, folder: Path) -> Target:
    """Return a target that runs a proxy under callgrind, without counting at first."""
    day = "86400000"
    return Target(
        command,
        (
            *("valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--trace-children=yes"),
            f"--callgrind-out-file={counts}",
            *shlex.split(command),
            *("--ca-dir", str(folder / f"{counts.name}-ca")),
            *("--upstream-ca", str(folder / "upstream.pem")),
            *("--idle-timeout-ms", day, "--heartbeat-ms", day, "--claim-timeout-ms", day),
        ),
        command,
    )
