"""``trafficmock report``: merge the reports of shards into one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from trafficmock.command.arguments import command_parser
from trafficmock.command.exit_status import OK
from trafficmock.command.output.terminal import standard_output
from trafficmock.errors import LocalError
from trafficmock.report.report_directory import PAGE, merge_reports
from trafficmock.texts.message_text import printable

EXAMPLES = """\
  trafficmock report merge shard-1 shard-2 --output report
  trafficmock report merge report --output report    # make its page anew
"""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    made = command_parser(
        "report",
        "Merge the reports of test runs, such as those of shards, into one directory.",
        EXAMPLES,
        http_proxy=False,
    )
    made.add_argument("what", choices=["merge"], help="what to do")
    made.add_argument("sources", metavar="DIR", nargs="+", help="directories of reports")
    made.add_argument(
        "--output", metavar="DIR", required=True, help="the directory of the merged report"
    )
    return made


def main(words: Sequence[str]) -> int:
    """Run the command.

    :returns: the exit status.
    :raises LocalError: a directory is no report, or its data is damaged: then what could be read is
        in the result.
    :raises OSError: a file cannot be read or written.
    """
    options = parser().parse_args(words)
    output = Path(options.output)
    damaged: list[str] = []
    document = merge_reports([Path(source) for source in options.sources], output, damaged)
    counts = ", ".join(f"{count} {outcome}" for outcome, count in document["counts"].items())
    terminal = standard_output("never")
    terminal.line(f"{output / PAGE} ({counts or 'no tests'})")
    if damaged:
        missing = printable("; ".join(damaged))
        raise LocalError(f"the report is not complete: {missing}")
    return OK
