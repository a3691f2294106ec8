"""Reads and runs the commands on pages of the documentation."""

import re
from pathlib import Path

from attrs import frozen

_FENCE = re.compile(
    r"(?:^\*\*(?P<caption>[^\n*]+)\*\*\n\n)?^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_WRITTEN = re.compile(
    r"^<!-- (\w+) begin:[^\n]*-->\n.*?^<!-- \1 end -->\n", re.DOTALL | re.MULTILINE
)
_NUMBER = re.compile(r"\d+")
_ID = re.compile(r"\b[0-9a-f]{8}(?:[0-9a-f]{8})?\b")


@frozen
class Block:
    """A fenced block of a page.

    :param language: ``sh``, ``python``, ``text``...
    :param caption: the bold line above it, which says where it is to be typed.
    """

    language: str
    caption: str
    text: str


def blocks(page: Path) -> list[Block]:
    """List the fenced blocks of a page, in order, but for those that ``tools.page_blocks`` writes.

    What is written comes from files and commands, which have tests of their own.
    """
    text = _WRITTEN.sub("", page.read_text(encoding="utf-8"))
    return [
        Block(fence["info"].strip(), fence["caption"] or "", fence["body"])
        for fence in _FENCE.finditer(text)
    ]


def table(page: Path, head: str) -> list[list[str]]:
    """Read the rows of the table on a page whose first column has that head."""
    lines = page.read_text(encoding="utf-8").splitlines()
    (begin,) = [number for number, line in enumerate(lines) if line.startswith(f"| {head} |")]
    rows = []
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip().strip("|").split(" | ")])
    return rows


def shows(output: str, expected: str) -> bool:
    """Tell whether each line of a page's sample is in an output, in this order.

    What differs from run to run may differ: ids, which a terminal shows short, numbers, and the
    blanks that line them up. An ellipsis stands for any text. A name that cannot be resolved has
    one error code where a name server says so, and another where none answers, which takes seconds.
    """
    lines = iter([_blanks(line) for line in output.splitlines()])
    return all(
        any(re.fullmatch(pattern, line) for line in lines)
        for pattern in map(_pattern, expected.splitlines())
    )


def _pattern(line: str) -> str:
    text = _NUMBER.sub("7", _ID.sub("AN-ID", _blanks(line)))
    pattern = re.escape(text).replace("AN\\-ID", "[0-9a-f]{8,16}").replace("7", r"\d+")
    pattern = pattern.replace(r"\d+\ ms", r"(\d+ ms|\d+\.\d s)")
    return pattern.replace("…", ".*").replace("ENOTFOUND", "(ENOTFOUND|EAI_AGAIN)")


def _blanks(line: str) -> str:
    return " ".join(line.split())
