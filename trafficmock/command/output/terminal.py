"""The output of a command, with its width and colours."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

from attrs import frozen

from trafficmock.texts.message_text import printable

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
    """The standard output.

    :param width: columns of the terminal; ``None`` for a file or a pipe, in which text is not cut.
    :param coloured: whether to write escape sequences.
    """

    out: TextIO
    width: int | None
    coloured: bool

    def paint(self, text: str, style: str | None) -> str:
        """Colour a text, if the output is coloured.

        :param style: a name such as ``red``; ``None`` for none.
        """
        if style is None or not self.coloured or not text:
            return text
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m"

    def line(self, text: str = "") -> None:
        """Write a line; recorded text in it must be escaped already."""
        self.out.write(f"{text.rstrip()}\n")

    def flush(self) -> None:
        """Flush the output, so that followed lines appear at once."""
        self.out.flush()


def standard_output(colour: str = "auto") -> Terminal:
    """Make the object for the standard output.

    :param colour: ``always``, ``never``, or ``auto``: only on a terminal, and not with ``NO_COLOR``
        (no-color.org) or ``TERM=dumb`` in the environment.
    """
    out = sys.stdout
    if hasattr(out, "reconfigure"):
        # Escape characters that the encoding lacks, instead of raising an error.
        out.reconfigure(errors="backslashreplace")
    is_terminal = out.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    coloured = colour == "always" or (colour == "auto" and is_terminal and not plain)
    width = shutil.get_terminal_size().columns if is_terminal else None
    return Terminal(out=out, width=width, coloured=coloured)


def complain(text: str) -> None:
    """Write one line to standard error, with control characters escaped."""
    sys.stderr.write(f"trafficmock: {printable(text)}\n")
    sys.stderr.flush()
