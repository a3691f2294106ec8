"""Writes the blocking API of tests from the awaited one: ``python -m tools.blocking_api``.

A call of the test API is written once, in a module ``async_*`` of ``trafficmock/testing/objects``.
Its blocking twin in ``objects/blocking`` is the same text with the replacements of :data:`RULES`.
A test fails while a file there is not current.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

OBJECTS = Path(__file__).parents[1] / "trafficmock" / "testing" / "objects"
BLOCKING = OBJECTS / "blocking"

RULES = [
    # Names.
    (r"\bobjects\.async_", "objects.blocking."),
    (r"_async\b", ""),
    (r"\bAsync(?=[A-Z])", ""),
    (r"__a(enter|exit)__", r"__\1__"),
    # Syntax.
    (r"\basync (?=def\b|with\b)", ""),
    (r"\bawait ", ""),
    (r" *from collections\.abc import Awaitable\n\n?", ""),
    (r"\bAwaitable, ", ""),
    # Words of docstrings.
    (r"\basyncio and Twisted tests\b", "blocking tests"),
    (r"\ban asyncio or Twisted test\b", "a blocking test"),
    (r"\ban (?=``with``)", "a "),
]
"""Regular expressions and what stands in their place, applied in this order."""

_HEAD = "# Written from {} by tools/blocking_api.py: do not edit.\n"
_AWAITABLE = "Awaitable["


def files() -> dict[Path, str]:
    """Return the text of each file of the blocking API, by its path."""
    return {
        BLOCKING / path.name.removeprefix("async_"): blocking(path)
        for path in sorted(OBJECTS.glob("async_*.py"))
    }


def blocking(path: Path) -> str:
    """Return the blocking twin of a module."""
    text = path.read_text(encoding="utf-8")
    while _AWAITABLE in text:
        text = _without_awaitable(text)
    for pattern, replacement in RULES:
        text = re.sub(pattern, replacement, text)
    return _HEAD.format(path.name) + text


def _without_awaitable(text: str) -> str:
    """Replace the first ``Awaitable[X]`` by ``X``."""
    start = text.index(_AWAITABLE)
    end = begin = start + len(_AWAITABLE)
    depth = 1
    while depth:
        depth += {"[": 1, "]": -1}.get(text[end], 0)
        end += 1
    return text[:start] + text[begin : end - 1] + text[end:]


def main() -> None:
    """Write the files that have changed, and remove those without a source."""
    written = files()
    for path, text in written.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{path.name} written\n")
    for path in set(BLOCKING.glob("*.py")) - written.keys() - {BLOCKING / "__init__.py"}:
        path.unlink()


if __name__ == "__main__":
    main()
