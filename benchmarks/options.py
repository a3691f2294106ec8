"""Command-line options that several subcommands share."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from attrs import frozen

from benchmarks import targets
from benchmarks.targets import Target


@frozen
class RunOptions:
    """
    The amount and the time limit of a measurement.

    :param rounds: how often each side is measured.
    :param scale: multiplies the loads' numbers of requests.
    :param seconds: time limit of one round.
    """

    rounds: int
    scale: float
    seconds: float

    def scaled(self, requests: int) -> int:
        """Return a load's number of requests times the scale, at least 1."""
        return max(1, int(requests * self.scale))


def add_target(parser: ArgumentParser) -> None:
    """Add the options that select the target and the output."""
    parser.add_argument(
        "--ours",
        metavar="COMMAND",
        help="another proxy in place of ours; may hold {port} or {ready} (a ready file)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")


def add_run_options(parser: ArgumentParser, *, rounds: int) -> None:
    """Add the options for the amount of a measurement."""
    parser.add_argument("--rounds", type=int, default=rounds, help="default: %(default)s")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="multiplies the numbers of requests"
    )
    parser.add_argument(
        "--seconds", type=float, default=300.0, help="limit of one round (default: %(default)s)"
    )


def run_options(options: Namespace) -> RunOptions:
    """Return the options for the amount of a measurement."""
    return RunOptions(options.rounds, options.scale, options.seconds)


def target(options: Namespace, extra: tuple[str, ...] = ()) -> Target:
    """
    Return the proxy to measure: ours, unless another command was given.

    :param extra: more options for ours; another command does not get them.
    """
    if options.ours:
        return targets.from_command("ours", options.ours)
    return targets.ours(extra)
