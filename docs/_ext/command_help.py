"""``{command-help} NAME``: what a command says of itself, at the time the pages are built."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import Directive

from trafficmock import cli

if TYPE_CHECKING:
    from sphinx.application import Sphinx

COLUMNS = "88"


def help_text(name: str) -> str:
    """Write what ``trafficmock NAME --help`` prints; without a name, the program's own help."""
    if not name:
        return cli.usage_text()
    os.environ["COLUMNS"] = COLUMNS
    command = cli.COMMANDS[name]
    if command.module is None:
        return str(command.usage(name))
    text: str = import_module(f"trafficmock.command.{command.module}").parser().format_help()
    return text


class CommandHelp(Directive):
    """Show the help of one command."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the block."""
        text = help_text(self.arguments[0] if self.arguments else "")
        block = nodes.literal_block(text, text)
        block["language"] = "text"
        return [block]


class ExitStatuses(Directive):
    """List what the exit statuses mean."""

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        meanings = import_module("trafficmock.command.exit_status").MEANINGS
        body = nodes.tbody("", *(_row(str(status), text) for status, text in meanings.items()))
        widths = (nodes.colspec(colwidth=1), nodes.colspec(colwidth=9))
        head = nodes.thead("", _row("Status", "Meaning"))
        return [nodes.table("", nodes.tgroup("", *widths, head, body, cols=2))]


def _row(*texts: str) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph(text=text)) for text in texts))


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_directive("command-help", CommandHelp)
    app.add_directive("exit-statuses", ExitStatuses)
    return {"parallel_read_safe": True}
