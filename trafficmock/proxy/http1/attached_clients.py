"""The ``Trafficmock-*`` headers between the proxy and an attached Python process.

The process opens a tunnel for each connection (``CONNECT`` with ``Trafficmock-Agent``). The
response to it has the certificate of the authority that signs the proxy's certificates within the
tunnel (``Trafficmock-Authority``). Each request within names its context (``Trafficmock-Context``,
empty without one). One without a context says where it was sent from (``Trafficmock-Origin``), if
a response to ``CONNECT`` asked for that (``Trafficmock-Origins``). A request that fails is answered
with ``Trafficmock-Failure``; the process then raises the exception that the failure of a direct
connection would raise.

A ``CONNECT`` may say how the server is to be verified (``Trafficmock-Trust``), or that TLS is to
reach the server (``Trafficmock-Alone``); see ``server_demands``. Within a tunnel, before its first
request, the process may send another ``CONNECT`` for the same server to say so. The answer asks
for roots that the proxy does not know (``Trafficmock-Roots``).

A ``CONNECT`` with ``Trafficmock-Notice`` opens no tunnel: it tells of a context that came into the
process (``seen``), or of a connection to a host that the process ignores (``ignored``), has roots
as its body (``roots``), or asks whether tests with contexts run (``tests``).
"""

from __future__ import annotations

from base64 import b64decode
from urllib.parse import quote

import msgspec
from attrs import field, frozen
from msgspec import UNSET, UnsetType

from trafficmock.proxy.http1.heads import BadMessageError, Pairs, RequestHead
from trafficmock.wire.local_reports import ContextSeen, RequestIgnored
from trafficmock.wire.payloads.request_origin import RequestOrigin

AGENT = b"trafficmock-agent"
AUTHORITY = b"trafficmock-authority"
CONTEXT = b"trafficmock-context"
ORIGIN = b"trafficmock-origin"
ORIGINS = b"trafficmock-origins"
FAILURE = b"trafficmock-failure"
NOTICE = b"trafficmock-notice"
TRUST = b"trafficmock-trust"
ALONE = b"trafficmock-alone"
ROOTS = b"trafficmock-roots"

HEADERS = frozenset(
    {AGENT, AUTHORITY, CONTEXT, ORIGIN, ORIGINS, FAILURE, NOTICE, TRUST, ALONE, ROOTS}
)
"""They are removed from forwarded requests and responses, and from the copies for tests."""

_PID_DIGITS = 10
LONGEST_AGENT = 4096
"""The most bytes of ``Trafficmock-Agent`` that are read."""
LONGEST_ORIGIN = 8192
"""The most bytes of ``Trafficmock-Origin`` that are read."""
LONGEST_TEXT = 2000
"""Characters of a failure's text, before it is percent-encoded; the rest is cut off."""


@frozen
class AttachedProcess:
    """The process of an attached client, which is only shown.

    :param pid: its id, if it sent one.
    :param command: its command line; empty if it sent none.
    :param tells: whether it tells of contexts that come in. It may begin to, when it has loaded a
        server, and is the same process then.
    :param tells_origins: whether it tells where requests without a context come from, when it is
        asked for that.
    :param runs_tests: whether it runs tests, which may call the application themselves.
    """

    pid: int | None = None
    command: str = ""
    tells: bool = field(default=False, eq=False)
    tells_origins: bool = False
    runs_tests: bool = False


def attached_process(head: RequestHead) -> AttachedProcess | None:
    """Read who opens a tunnel: ``python; tests; origins; seen-contexts; pid=4711; command=BASE64``.

    All but the first word is optional.

    :returns: ``None``, if the client is not an attached process.
    """
    value = head.fields.get(AGENT)
    if value is None:
        return None
    parts = [part.strip().partition(b"=") for part in value[:LONGEST_AGENT].split(b";")]
    named = {name: text for name, _, text in parts}
    pid = named.get(b"pid", b"")
    try:
        command = b64decode(named.get(b"command", b""), validate=True).decode("utf-8", "replace")
    except ValueError:
        command = ""  # not base64; it is only shown
    number = int(pid) if pid.isdigit() and len(pid) <= _PID_DIGITS else None
    return AttachedProcess(
        number,
        command,
        tells=b"seen-contexts" in named,
        tells_origins=b"origins" in named,
        runs_tests=b"tests" in named,
    )


def sent_from(value: bytes) -> RequestOrigin | UnsetType:
    """Read where a request was sent from: JSON in base64, which is only shown.

    :param value: of ``Trafficmock-Origin``.
    """
    if len(value) > LONGEST_ORIGIN:
        return UNSET
    try:
        return msgspec.json.decode(b64decode(value, validate=True), type=RequestOrigin)
    except ValueError:
        return UNSET


def lacks_origin(head: RequestHead) -> bool:
    """Return whether an attached process sends a request without a context, and without origin."""
    return head.fields.get(CONTEXT) == b"" and ORIGIN not in head.fields


def notice(head: RequestHead) -> ContextSeen | RequestIgnored | None:
    """Read what a ``CONNECT`` tells instead of opening a tunnel; ``None`` if it opens one.

    :raises BadMessageError: there is no such notice.
    """
    kind = head.fields.get(NOTICE)
    context = head.fields.get(CONTEXT, b"").decode("latin-1")
    if kind is None:
        return None
    if kind == b"seen":
        return ContextSeen(context)
    if kind != b"ignored":
        raise BadMessageError("Trafficmock-Notice is seen or ignored")
    target = head.target.decode("latin-1")
    scheme = "https" if target.endswith(":443") else "http"
    return RequestIgnored("CONNECT", f"{scheme}://{target}/", context or UNSET)


def asks_for_tests(head: RequestHead) -> bool:
    """Return whether a ``CONNECT`` asks whether tests with contexts run."""
    return head.fields.get(NOTICE) == b"tests"


def sends_roots(head: RequestHead) -> bool:
    """Return whether the body of a ``CONNECT`` has roots."""
    return head.fields.get(NOTICE) == b"roots"


def opens_for_agent(head: RequestHead) -> bool:
    """Return whether a ``CONNECT`` comes from an attached process."""
    return AGENT in head.fields


def understands_failures(head: RequestHead) -> bool:
    """Return whether a request comes from an attached process: it reads ``Trafficmock-Failure``."""
    return CONTEXT in head.fields


def authority_line(pem: bytes) -> bytes:
    """Write the header line with the authority's certificate, as DER in base64.

    :param pem: the certificate (RFC 7468).
    """
    lines = [line.strip() for line in pem.strip().splitlines()]
    return b"%s: %s\r\n" % (AUTHORITY, b"".join(lines[1:-1]))


ORIGINS_LINE = b"%s: wanted\r\n" % ORIGINS
"""Asks the process to say where its requests without a context come from."""


def roots_line(name: str) -> bytes:
    """Ask the process for the roots that it demands.

    :param name: their SHA-256 in hex.
    """
    return b"%s: %s\r\n" % (ROOTS, name.encode("ascii"))


def failure_lines(head: RequestHead, code: str, text: str) -> Pairs:
    """Return the header lines that a failed request is answered with, besides the usual ones.

    :param head: the head of the request.
    :returns: an empty list, if the request does not come from an attached process.
    """
    return [failure_line(code, text)] if understands_failures(head) else []


def failure_line(code: str, text: str) -> tuple[bytes, bytes]:
    """Write the header ``Trafficmock-Failure``.

    :param code: an abort code, the name of an errno, or an error code of the proxy.
    :param text: the message of the exception, for people.
    """
    coded = quote(text[:LONGEST_TEXT], safe="")
    return FAILURE, f"{code} {coded}".encode("ascii")
