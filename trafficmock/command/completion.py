"""``trafficmock completion``: print the script by which a shell completes trafficmock's commands.

The script is argcomplete's. It calls ``trafficmock`` with the typed line in the environment, and
:func:`complete` answers from the parsers of the commands.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from importlib import import_module

from trafficmock.command.arguments import command_parser
from trafficmock.command.exit_status import OK
from trafficmock.command.output.terminal import standard_output

SHELLS = ("bash", "zsh", "fish")
EXAMPLES = """\
  eval "$(trafficmock completion bash)"       # in ~/.bashrc
  eval "$(trafficmock completion zsh)"        # in ~/.zshrc, after compinit
  trafficmock completion fish > ~/.config/fish/completions/trafficmock.fish
"""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    what = "Print the script for completion of commands, options and ids."
    made = command_parser("completion", what, EXAMPLES, http_proxy=False)
    made.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    return made


def main(words: Sequence[str]) -> int:
    """Run the command.

    :returns: the exit status.
    """
    from argcomplete.shell_integration import shellcode  # noqa: PLC0415 - slow

    shell = parser().parse_args(words).shell
    standard_output().line(shellcode(["trafficmock"], shell=shell))
    return OK


def complete(commands: Mapping[str, str], line: str) -> None:
    """Print the completions of a typed line, and end the process.

    :param commands: by name the module under :mod:`trafficmock.command`, or ``module:class`` of
        the Twisted options. Only that of the command on the line is imported.
    :param line: the line as typed so far.
    """
    import argcomplete  # noqa: PLC0415 - slow, and needed only when a shell asks

    argcomplete.autocomplete(whole_parser(commands, line), always_complete_options=False)


def whole_parser(commands: Mapping[str, str], line: str) -> argparse.ArgumentParser:
    """Make the parser of all commands, with the options of the command on the line."""
    whole = argparse.ArgumentParser(prog="trafficmock", allow_abbrev=False)
    whole.add_argument("--version", action="store_true")
    below = whole.add_subparsers()
    typed = line.split()[1:]
    for name, where in commands.items():
        parents = [_parser_of(where)] if name in typed else []
        below.add_parser(name, parents=parents, conflict_handler="resolve", allow_abbrev=False)
    return whole


def _parser_of(where: str) -> argparse.ArgumentParser:
    module, _, options_class = where.partition(":")
    if not options_class:
        made: argparse.ArgumentParser = import_module(f"trafficmock.command.{module}").parser()
        return made
    made = argparse.ArgumentParser(add_help=False)
    for option in getattr(import_module(module), options_class)().longOpt:
        if option.endswith("="):
            made.add_argument(f"--{option[:-1]}")
        else:
            made.add_argument(f"--{option}", action="store_true")
    return made
