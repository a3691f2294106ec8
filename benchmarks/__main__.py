"""``python -m benchmarks``: the command line of the benchmarks."""

from __future__ import annotations

import argparse
import sys

from benchmarks.commands import (
    browser_proxy,
    calls,
    compare,
    contexts,
    export,
    instructions,
    memory,
    origins,
    polling,
    profiling,
    replies,
    routes,
    upstream_clients,
)
from benchmarks.errors import BenchmarkError
from benchmarks.forward import command as forward
from benchmarks.streams import command as streams

_COMMANDS = {
    "compare": (compare, "our proxy against the npm proxy on every load, in turns"),
    "routes": (routes, "few against many registered routes"),
    "contexts": (contexts, "requests with a test's context against requests without"),
    "origins": (origins, "where a Python process's requests without a context come from"),
    "instructions": (instructions, "instructions of a request, before a change and after it"),
    "calls": (calls, "functions of the proxy that a request calls, and their files"),
    "browser_proxy": (
        browser_proxy,
        "the first load of a page with many assets, through a test's proxy",
    ),
    "replies": (replies, "fixed answers in the proxy against a handler, in turns"),
    "export": (export, "what the export to a collector (OTLP) adds"),
    "polling": (polling, "decisions while the history is read"),
    "forward": (forward, "our forward proxy against mitmproxy on every load, in turns"),
    "upstream": (upstream_clients, "a small request to a server: our connections, Agent, treq"),
    "memory": (memory, "resident memory after many large requests"),
    "streams": (streams, "memory while a test streams 2 GB, and 1,000 open streams"),
    "profile": (profiling, "where our proxy's time goes under one load"),
}


def main(arguments: list[str]) -> int:
    """
    Run one subcommand.

    :returns: 0 if all its goals are reached, 1 if one is missed, 2 if the
        measurement failed.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (module, purpose) in _COMMANDS.items():
        module.add_arguments(commands.add_parser(name, help=purpose, description=purpose))
    options = parser.parse_args(arguments)
    try:
        return 0 if _COMMANDS[options.command][0].run(options) else 1
    except BenchmarkError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
