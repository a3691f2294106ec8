"""Command-line options that several subcommands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from benchmarks import targets

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from benchmarks.targets import Target


@frozen
class RunOptions:
    """
    How much is measured, and for how long at most.

    :param rounds: how often each side is measured.
    :param scale: multiplies the loads' numbers of requests.
    :param seconds: limit of one round.
    """

    rounds: int
    scale: float
    seconds: float

    def scaled(self, requests: int) -> int:
        """Scale a load's number of requests; at least one."""
        return max(1, int(requests * self.scale))


def add_target(parser: ArgumentParser) -> None:
    """Options on what is measured."""
    parser.add_argument(
        "--ours",
        metavar="COMMAND",
        help="another proxy in place of ours; may hold {port} or {ready} (a ready file)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")


def add_run_options(parser: ArgumentParser, *, rounds: int) -> None:
    """Options on how much is measured."""
    parser.add_argument("--rounds", type=int, default=rounds, help="default: %(default)s")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="multiplies the numbers of requests"
    )
    parser.add_argument(
        "--seconds", type=float, default=300.0, help="limit of one round (default: %(default)s)"
    )


def run_options(options: Namespace) -> RunOptions:
    """Read the options of a run."""
    return RunOptions(options.rounds, options.scale, options.seconds)


def target(options: Namespace, extra: tuple[str, ...] = ()) -> Target:
    """
    Pick the proxy to measure: ours unless another command was given.

    :param extra: more options for ours; another command is taken as it is.
    """
    if options.ours:
        return targets.from_command("ours", options.ours)
    return targets.ours(extra)
