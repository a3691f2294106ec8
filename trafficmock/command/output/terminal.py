"""Where a command writes: how wide it is, and whether it takes colours."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

from attrs import frozen

from trafficmock.redaction import printable

COLOURS = ("auto", "always", "never")

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "magenta": "35",
    "cyan": "36",
}


@frozen(kw_only=True)
class Terminal:
    """An output.

    :param width: columns of the terminal; ``None`` when it is a file or a pipe, where nothing
        is cut.
    :param coloured: whether to write escape sequences.
    """

    out: TextIO
    width: int | None
    coloured: bool

    def paint(self, text: str, style: str | None) -> str:
        """Colour a text, where that is welcome.

        :param style: a name such as ``red``, or ``None``.
        """
        if style is None or not self.coloured or not text:
            return text
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m"

    def line(self, text: str = "") -> None:
        """Write a line; its recorded parts are printable by now."""
        self.out.write(f"{text.rstrip()}\n")

    def flush(self) -> None:
        """Show what was written: who follows does not want to wait for a full buffer."""
        self.out.flush()


def standard_output(colour: str = "auto") -> Terminal:
    """Look at the standard output.

    :param colour: ``auto`` is for terminals, unless ``NO_COLOR`` (no-color.org) or
        ``TERM=dumb`` is in the environment; ``always`` and ``never`` are what they say.
    """
    out = sys.stdout
    if hasattr(out, "reconfigure"):
        # An encoding that lacks a character shows its escape instead of failing.
        out.reconfigure(errors="backslashreplace")
    is_terminal = out.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    coloured = colour == "always" or (colour == "auto" and is_terminal and not plain)
    width = shutil.get_terminal_size().columns if is_terminal else None
    return Terminal(out=out, width=width, coloured=coloured)


def complain(text: str) -> None:
    """Say something beside the output, on standard error, in one line that prints."""
    sys.stderr.write(f"trafficmock: {printable(text)}\n")
    sys.stderr.flush()
