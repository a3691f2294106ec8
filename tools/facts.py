"""Writes the facts of the Python package that the npm packages share: ``python -m tools.facts``.

Both npm packages read ``agent/src/protocol/facts.js``, and the Python preload, which an application
may load without the rest of the package, reads ``network_errors.py``. This tool writes both. A test
fails while they are not current.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from trafficmock.attach.agent_variables import DEFAULT_PROXY_URL
from trafficmock.core.local.leases import LEASE_SECONDS
from trafficmock.matching.host_pattern import UNDER_TEST
from trafficmock.matching.patterns.unix_sockets import UNIX_SCHEME
from trafficmock.report import data_files, report_directory, report_settings
from trafficmock.wire import PROTOCOL_VERSION, features, http_syntax, inbound, limits, outbound
from trafficmock.wire.payloads.abort_codes import NETWORK_ERRORS, PLAYWRIGHT_CODES, RESETS
from trafficmock.wire.payloads.answer_options import HEADER_OPTIONS
from trafficmock.wire.payloads.serialized_har import MOST_PACE, OF_REQUESTS, OF_RESPONSES
from trafficmock.wire.payloads.serialized_matcher import MOST_STEPS
from trafficmock.wire.payloads.serialized_response import (
    FINAL_STATUSES,
    MOST_ARRIVALS,
    REDIRECTS,
    REQUEST_SETTLED,
)

ROOT = Path(__file__).parents[1]
FILE = ROOT / "agent" / "src" / "protocol" / "facts.js"
PRELOAD = ROOT / "trafficmock" / "attach" / "python" / "trafficmock_preload" / "network_errors.py"

FACTS = {
    "PROTOCOL_VERSION": PROTOCOL_VERSION,
    "DEFAULT_PROXY_URL": DEFAULT_PROXY_URL,
    "AGENT_FEATURES": features.OF_AGENTS,
    "REQUIRED_FEATURES": features.REQUIRED_BY_AGENTS,
    "MAX_MESSAGE_BYTES": limits.MAX_MESSAGE_BYTES,
    "BODY_LIMITS": {"history": limits.HISTORY_BODY_BYTES, "handler": limits.HANDLER_BODY_BYTES},
    "MOST_HAR_BYTES": limits.MOST_HAR_BYTES,
    "MOST_REDIRECTS": limits.MOST_REDIRECTS,
    "FILES_MS": limits.FILES_SECONDS * 1000,
    "MOST_PACE": MOST_PACE,
    "MOST_STEPS": MOST_STEPS,
    "MOST_ARRIVALS": MOST_ARRIVALS,
    "STREAM": {
        "pieceBytes": inbound.MAX_STREAM_PIECE_BYTES,
        "windowBytes": inbound.STREAM_WINDOW_BYTES,
        "windowPieces": inbound.STREAM_WINDOW_PIECES,
    },
    "LEASE_MS": round(LEASE_SECONDS * 1000),
    "FIRST_PAUSE_MS": round(limits.FIRST_PAUSE_SECONDS * 1000),
    "ACK_MS": round(limits.ACK_SECONDS * 1000),
    "REDIRECTS": sorted(REDIRECTS),
    "BODILESS_STATUSES": sorted(http_syntax.BODILESS_STATUSES),
    "UNFRAMED_STATUSES": sorted(http_syntax.UNFRAMED_STATUSES),
    "FINAL_STATUSES": {"first": FINAL_STATUSES[0], "last": FINAL_STATUSES[-1]},
    "CREDENTIALS": sorted(http_syntax.CREDENTIALS),
    "CONTENT_HEADERS": sorted(http_syntax.CONTENT_HEADERS),
    "HEADER_OPTIONS": HEADER_OPTIONS,
    "HAR_REQUEST": OF_REQUESTS,
    "HAR_RESPONSE": OF_RESPONSES,
    "UNDER_TEST": UNDER_TEST,
    "UNIX_SCHEME": UNIX_SCHEME,
    "CONTEXT_MEMBER": http_syntax.CONTEXT_MEMBER,
    "CONTEXT_COOKIE": http_syntax.CONTEXT_COOKIE,
    "REPORT": {
        "longestName": data_files.LONGEST_NAME,
        "modes": report_settings.MODES,
        "bodyBytes": report_settings.BODY_BYTES,
        "mostBodyBytes": report_settings.MOST_BODY_BYTES,
        "longestError": report_settings.LONGEST_ERROR,
        "mostRounds": report_directory.MOST_ROUNDS,
    },
    "UNMATCHED": outbound.UNMATCHED,
    "REQUEST_SETTLED": REQUEST_SETTLED,
    "RESETS": sorted(RESETS),
    "PLAYWRIGHT_CODES": PLAYWRIGHT_CODES,
    "NETWORK_ERRORS": {code: error._asdict() for code, error in NETWORK_ERRORS.items()},
}
"""The values by their names in JavaScript; where each of them comes from, it is described."""

TYPES = {
    "PLAYWRIGHT_CODES": "Record<string, string>",
    "NETWORK_ERRORS": "Record<string, { code: string, errno: number, syscall: string }>",
}
"""The JSDoc types of what a text looks up."""


def written() -> str:
    """Return the text of the file."""
    lines = ['"use strict";', "", "/** Written from `FACTS` of tools/facts.py: do not edit. */"]
    lines += ["module.exports = {"]
    for name, value in FACTS.items():
        typed = f"/** @type {{{TYPES[name]}}} */ " if name in TYPES else ""
        lines.append(f"  {typed}{name}: {json.dumps(value)},")
    return "\n".join([*lines, "};", ""])


def written_for_preload() -> str:
    """Return the text of the module of the Python preload."""
    errors = [f'    "{code}": "{error.code}",\n' for code, error in NETWORK_ERRORS.items()]
    names = dict.fromkeys(e.code for e in NETWORK_ERRORS.values() if e.syscall == "read")
    return (
        '"""Written from ``NETWORK_ERRORS`` of the wire by ``tools.facts``: do not edit."""\n\n'
        f"NETWORK_ERRORS = {{\n{''.join(errors)}}}\n"
        '"""The name of the error for each abort code of protocol 3."""\n\n'
        f"AFTER_CONNECTING = {json.dumps([*names])}\n"
        '"""Those that come when the request was sent."""\n'
    )


def main() -> int:
    """Write both files anew.

    :returns: the exit status.
    """
    FILE.write_text(written(), encoding="utf-8")
    PRELOAD.write_text(written_for_preload(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
