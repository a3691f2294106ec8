"""``streams``: memory while a test streams 2 GB to a slow reader, and many open streams."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from benchmarks import options as common
from benchmarks.errors import BenchmarkError
from benchmarks.report import table, write_json
from benchmarks.streams import crowd
from benchmarks.targets import Running, running
from tests.support.processes import process_usage
from tests.support.processes.proxy_process import REPOSITORY

GROWTH_AT_MOST = 60 * 2**20
"""Bytes by which each process may grow after the first tenth: what is not collected yet."""

_HERE = Path(__file__).parent
_NODE = shutil.which("node") or "node"
_PYTHON = (sys.executable, str(_HERE / "reader.py"))
_URL = "http://llm.test/large"
_WAYS = ("node agent", "python preload", "forward proxy")
_SIDES = ("python", "javascript")


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    common.add_target(parser)
    parser.add_argument("--mib", type=int, default=2048, help="default: %(default)s")
    parser.add_argument(
        "--pause-ms", type=float, default=5, help="of the reader after each MiB (%(default)s)"
    )
    parser.add_argument("--way", action="append", choices=_WAYS, help="only this way in")
    parser.add_argument("--side", action="append", choices=_SIDES, help="only this test side")
    parser.add_argument("--tests", type=int, default=100, help="of the crowd (%(default)s)")
    parser.add_argument("--open", type=int, default=1000, help="streams of all (%(default)s)")


def run(options: Namespace) -> bool:
    """Print both tables, and return whether no process grew by more than the limit."""
    target = common.target(options)
    rows, grown = [], {}
    for way in options.way or _WAYS:
        for side in options.side or _SIDES:
            with running(target) as proxy:
                found = _large(proxy, way, side, options)
            grown[f"{way}, {side}"] = max(each.grown for each in found.values())
            rows.append([way, side, *(str(each) for each in found.values())])
            print(*rows[-1], sep=" | ", flush=True)
    print(table(("way in", "test side", "test, MB", "proxy, MB", "application, MB"), rows))
    print(f"{options.mib} MiB: peaks after a tenth and at the end")
    with running(target) as proxy:
        figures = crowd.measure(_url(proxy), proxy.pid, options.tests, options.open)
    print(table(("open streams", "tests", "send, ms: median", "p99", "proxy, MB"), [figures.row]))
    if options.json:
        write_json(options.json, {target.name: target.version}, {"grown": grown})
    return all(each <= GROWTH_AT_MOST for each in grown.values())


@frozen
class _Peaks:
    """The peak of a process' memory after a tenth of the answer, and at its end; bytes."""

    early: int
    last: int

    @property
    def grown(self) -> int:
        return self.last - self.early

    def __str__(self) -> str:
        return f"{self.early / 1e6:.0f} → {self.last / 1e6:.0f}"


def _large(proxy: Running, way: str, side: str, options: Namespace) -> dict[str, _Peaks]:
    url = _url(proxy)
    argv = ["python", "writer.py"] if side == "python" else ["node", "writer.mjs"]
    binary = sys.executable if side == "python" else _NODE
    with contextlib.ExitStack() as stack:
        test = _Lines(stack, [binary, str(_HERE / argv[1]), url, _URL, str(options.mib)])
        test.next()
        asked = (_URL, str(options.mib), str(options.pause_ms))
        reader = _Lines(stack, [*_application(way, url), *asked])
        early = test.number(), reader.number()
        proxy_early = process_usage.memory(proxy.pid).peak
        last = test.number(), reader.number()
        proxy_last = process_usage.memory(proxy.pid).peak
    return {
        "test": _Peaks(early[0], last[0]),
        "proxy": _Peaks(proxy_early, proxy_last),
        "application": _Peaks(early[1], last[1]),
    }


def _application(way: str, proxy_url: str) -> Sequence[str]:
    if way == "forward proxy":
        return ("env", f"http_proxy={proxy_url}", *_PYTHON)
    run = (sys.executable, "-m", "trafficmock", "run", "--proxy-url", proxy_url, "--")
    return (*run, _NODE, str(_HERE / "reader.mjs")) if way == "node agent" else (*run, *_PYTHON)


def _url(proxy: Running) -> str:
    host, port = proxy.address
    return f"http://{host}:{port}"


class _Lines:
    """A process, by the lines that it prints."""

    def __init__(self, stack: contextlib.ExitStack, argv: Sequence[str]) -> None:
        env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        self._argv = argv
        self._process = stack.enter_context(
            subprocess.Popen(argv, stdout=subprocess.PIPE, env=env, text=True)
        )
        stack.callback(self._process.kill)

    def next(self) -> str:
        """Wait for a line.

        :raises BenchmarkError: the process ended.
        """
        line = (self._process.stdout or sys.stdin).readline()
        if not line:
            raise BenchmarkError(f"{self._argv} ended with {self._process.wait()}")
        return line.strip()

    def number(self) -> int:
        return int(self.next())
