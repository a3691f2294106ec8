"""What the proxy and an attached Python process say to each other, in headers of their own.

The process opens a tunnel for each connection (``CONNECT`` with ``Trafficmock-Agent``), and learns
from the answer which authority signs what the proxy shows it within (``Trafficmock-Authority``).
Each request within names its context (``Trafficmock-Context``, empty without one). Such a client
is told of failures by an answer with ``Trafficmock-Failure``, and raises what a network would make.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from trafficmock.proxy.http1.heads import Pairs, RequestHead

AGENT = b"trafficmock-agent"
AUTHORITY = b"trafficmock-authority"
CONTEXT = b"trafficmock-context"
FAILURE = b"trafficmock-failure"

HEADERS = frozenset({AGENT, AUTHORITY, CONTEXT, FAILURE})
"""They go no further: not to servers, not to tests, and none that a server sends is believed."""

LONGEST_TEXT = 2000
"""Characters of a text in a header, before it is coded."""


def opens_for_agent(head: RequestHead) -> bool:
    """Tell whether a ``CONNECT`` is that of an attached process."""
    return AGENT in head.fields


def understands_failures(head: RequestHead) -> bool:
    """Tell whether a request is that of an attached process, which is told why one failed."""
    return CONTEXT in head.fields


def authority_line(pem: bytes) -> bytes:
    """Write the header line that names the authority.

    :param pem: one certificate (RFC 7468); within it is DER in base64.
    """
    lines = [line.strip() for line in pem.strip().splitlines()]
    return b"%s: %s\r\n" % (AUTHORITY, b"".join(lines[1:-1]))


def failure_lines(head: RequestHead, code: str, text: str) -> Pairs:
    """Give the header of an answer that stands for a failure; it is for attached processes alone.

    :param head: of the request.
    """
    return [failure_line(code, text)] if understands_failures(head) else []


def failure_line(code: str, text: str) -> tuple[bytes, bytes]:
    """Write what stands for a failure.

    :param code: an abort code, the name of an error of the network, or a code of the proxy.
    :param text: for people.
    """
    coded = quote(text[:LONGEST_TEXT], safe="")
    return FAILURE, f"{code} {coded}".encode("ascii")
