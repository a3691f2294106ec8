"""Writes the facts of the Python package that the npm packages share: ``python -m tools.facts``.

The facts have their one place in ``trafficmock.wire``. Both npm packages read them as
``agent/src/protocol/facts.js``, which this tool writes, and a test fails while it is not current.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from attrs import frozen

from trafficmock.wire.http_syntax import (
    BODILESS_STATUSES,
    CONTENT_HEADERS,
    CREDENTIALS,
    UNFRAMED_STATUSES,
)
from trafficmock.wire.limits import FIRST_PAUSE_SECONDS, MOST_HAR_BYTES, MOST_REDIRECTS
from trafficmock.wire.payloads.abort_codes import NETWORK_ERRORS, PLAYWRIGHT_CODES
from trafficmock.wire.payloads.serialized_response import FINAL_STATUSES, REDIRECTS

FILE = Path(__file__).parents[1] / "agent" / "src" / "protocol" / "facts.js"

_HEAD = """\
"use strict";

/*
 * Written by `python -m tools.facts` from trafficmock/wire. What is changed here is lost.
 */
"""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@frozen
class Fact:
    """A value that several languages know.

    :param name: the name in JavaScript.
    :param meaning: the comment above it.
    :param kind: the JSDoc type, if TypeScript would find a narrower one.
    """

    name: str
    value: Any
    meaning: str
    kind: str = ""

    def written(self) -> str:
        """Return the member of ``module.exports``."""
        typed = f" @type {{{self.kind}}}" if self.kind else ""
        return f"  /** {self.meaning}{typed} */\n  {self.name}: {_javascript(self.value, '  ')},\n"


FACTS = (
    Fact(
        "PLAYWRIGHT_CODES",
        PLAYWRIGHT_CODES,
        "Playwright's error codes, with the abort code of protocol 3 for each.",
        "Record<string, string>",
    ),
    Fact(
        "NETWORK_ERRORS",
        {code: error._asdict() for code, error in NETWORK_ERRORS.items()},
        "The error of the kernel or the resolver for each abort code (errno as on Linux).",
        "Record<string, { code: string, errno: number, syscall: string }>",
    ),
    Fact("REDIRECTS", sorted(REDIRECTS), "The statuses of redirects."),
    Fact(
        "UNFRAMED_STATUSES",
        sorted(UNFRAMED_STATUSES),
        "The statuses of responses that end with their head (RFC 9112, section 6.3).",
    ),
    Fact("BODILESS_STATUSES", sorted(BODILESS_STATUSES), "The statuses without content."),
    Fact(
        "FINAL_STATUSES",
        {"first": FINAL_STATUSES[0], "last": FINAL_STATUSES[-1]},
        "The statuses that a mock may have.",
    ),
    Fact("CREDENTIALS", sorted(CREDENTIALS), "Headers that no redirect takes to another origin."),
    Fact("CONTENT_HEADERS", sorted(CONTENT_HEADERS), "Headers about the content of a message."),
    Fact("MOST_REDIRECTS", MOST_REDIRECTS, "The most redirects that a fetch follows by default."),
    Fact(
        "FIRST_PAUSE_MS",
        round(FIRST_PAUSE_SECONDS * 1000),
        "The pause before the first retry of a fetch, doubled for each further one; ms.",
    ),
    Fact("MOST_HAR_BYTES", MOST_HAR_BYTES, "The most bytes of the entries of a route from a HAR."),
)


def written() -> str:
    """Return the text of the file."""
    return f"{_HEAD}module.exports = {{\n{''.join(fact.written() for fact in FACTS)}}};\n"


def _javascript(value: Any, indent: str = "") -> str:
    """Write a value as prettier does.

    :param value: a number, a text, a list of these, or a mapping of texts to such values.
    :param indent: that of the line, for an object with a line for each member.
    """
    if isinstance(value, int | str):
        return json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(_javascript(each) for each in value)}]"
    members = [
        f"{key if _NAME.fullmatch(key) else json.dumps(key)}: {_javascript(each)}"
        for key, each in value.items()
    ]
    if not indent:
        return f"{{ {', '.join(members)} }}"
    return "".join(["{\n", *(f"{indent}  {member},\n" for member in members), indent, "}"])


def main() -> int:
    """Write the file anew.

    :returns: the exit status.
    """
    FILE.write_text(written(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
