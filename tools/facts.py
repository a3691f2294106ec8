"""Writes the facts of the Python package that the npm packages share: ``python -m tools.facts``.

The facts have their one place in ``trafficmock.wire``. Both npm packages read them as
``agent/src/protocol/facts.js``, which this tool writes, and a test fails while it is not current.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from trafficmock.wire import PROTOCOL_VERSION, features, limits
from trafficmock.wire.http_syntax import (
    BODILESS_STATUSES,
    CONTENT_HEADERS,
    CREDENTIALS,
    UNFRAMED_STATUSES,
)
from trafficmock.wire.payloads.abort_codes import NETWORK_ERRORS, PLAYWRIGHT_CODES
from trafficmock.wire.payloads.serialized_response import FINAL_STATUSES, REDIRECTS

FILE = Path(__file__).parents[1] / "agent" / "src" / "protocol" / "facts.js"

_ERROR = "{ code: string, errno: number, syscall: string }"

FACTS = (
    ("The protocol of the messages", "PROTOCOL_VERSION", PROTOCOL_VERSION),
    ("The features of agents, beyond the protocol", "AGENT_FEATURES", features.OF_AGENTS),
    ("Those that a proxy must have", "REQUIRED_FEATURES", features.REQUIRED_BY_AGENTS),
    ("The largest message; bytes", "MAX_MESSAGE_BYTES", limits.MAX_MESSAGE_BYTES),
    (
        "The limits of a body for the history and a handler, until a proxy names its own; bytes",
        "BODY_LIMITS",
        {"history": limits.HISTORY_BODY_BYTES, "handler": limits.HANDLER_BODY_BYTES},
    ),
    ("The entries of a route from a HAR; bytes", "MOST_HAR_BYTES", limits.MOST_HAR_BYTES),
    ("The time for the proxy's acknowledgements; ms", "ACK_MS", round(limits.ACK_SECONDS * 1000)),
    ("The most redirects of a fetch, by default", "MOST_REDIRECTS", limits.MOST_REDIRECTS),
    (
        "The pause before the first retry of a fetch, doubled for each further one; ms",
        "FIRST_PAUSE_MS",
        round(limits.FIRST_PAUSE_SECONDS * 1000),
    ),
    ("The statuses of redirects", "REDIRECTS", sorted(REDIRECTS)),
    ("The statuses without content", "BODILESS_STATUSES", sorted(BODILESS_STATUSES)),
    (
        "The statuses of responses that end with their head (RFC 9112, section 6.3)",
        "UNFRAMED_STATUSES",
        sorted(UNFRAMED_STATUSES),
    ),
    (
        "The statuses that a mock may have",
        "FINAL_STATUSES",
        {"first": FINAL_STATUSES[0], "last": FINAL_STATUSES[-1]},
    ),
    ("Headers that no redirect takes to another origin", "CREDENTIALS", sorted(CREDENTIALS)),
    ("Headers about the content of a message", "CONTENT_HEADERS", sorted(CONTENT_HEADERS)),
    (
        "Playwright's error codes, with the abort code for each. @type {Record<string, string>}",
        "PLAYWRIGHT_CODES",
        PLAYWRIGHT_CODES,
    ),
    (
        f"The error for each abort code (errno as on Linux). @type {{Record<string, {_ERROR}>}}",
        "NETWORK_ERRORS",
        {code: error._asdict() for code, error in NETWORK_ERRORS.items()},
    ),
)
"""The meaning, the name in JavaScript and the value of each."""


def written() -> str:
    """Return the text of the file."""
    members = [f"  /** {text} */\n  {name}: {json.dumps(value)},\n" for text, name, value in FACTS]
    head = (
        '"use strict";\n\n/* Written by `python -m tools.facts`: what is changed here is lost. */'
    )
    return f"{head}\nmodule.exports = {{\n{''.join(members)}}};\n"


def main() -> int:
    """Write the file anew.

    :returns: the exit status.
    """
    FILE.write_text(written(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
