"""Says in words which requests came instead of others, and which applications are connected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import UNSET

from trafficmock.core.effects import ConnectedClient, Overdue
from trafficmock.core.error_messages import difference
from trafficmock.matching.patterns.unix_sockets import is_unix_socket
from trafficmock.server.diagnosis.similar_request import SimilarRequest, SimilarRequests
from trafficmock.texts.times import time_of_day
from trafficmock.texts.wording import Wording, joined
from trafficmock.wire.payloads.unmet_routes import UnmetMatcher

Unmet = Literal["route", "request", "response"]
"""What no request met."""

MOST_AGENTS = 10

NOTHING = "No request of any application came since the test began."
_NOT_ATTACHED = (
    "No application is connected to the proxy. Start it through `trafficmock run -- COMMAND`, or "
    "with the environment that the test library makes: trafficmock_env(client_id=...) or "
    "process_proxy().environment(...) in Python, attached({ clientId }) of "
    "trafficmock-playwright/config in JavaScript.\n"
    "An application without the Node agent, such as a Python one, is listed from its first "
    "request on.\n"
    "If it runs attached to another proxy, give the tests that one's address: "
    "--trafficmock-proxy-url URL in pytest, or TRAFFICMOCK_PROXY_URL in the environment."
)
_NOT_ENCODED = "(URLs have letters beyond ASCII percent-encoded, so a glob must have them so.)"
_UNIX_SOCKETS = (
    "Requests to UNIX sockets are seen in Node applications alone, and only those that a route of "
    "this or another test names: a wait for one needs a route."
)
_WAYS = {"proxy": "the forward proxy", "python": "the Python preload"}
"""How an application is attached, by the ``kind`` of its connection."""


def overdue_text(overdue: Overdue, found: SimilarRequests, capture: str) -> Wording:
    """Return what came instead of what a test waited for, in lines for the error of the wait.

    :param capture: ``--history-capture``.
    """
    lines: list[str] = [] if capture == "all" else [f"(the proxy's history keeps only: {capture})"]
    lines += socket_hint([overdue.unmet])
    if not found.requests and overdue.seen:
        return joined("\n", [*lines, "Seen since the test began, newest first:", *overdue.seen])
    if not found.requests:
        return joined("\n", [*lines, NOTHING, *applications(overdue.agents)])
    glob = overdue.unmet.matcher.url_glob
    if isinstance(glob, str) and not glob.isascii():
        lines.append(_NOT_ENCODED)
    lines.append("Seen since the test began, nearest first:")
    lines += [Wording("  ", each.text) for each in found.requests]
    return joined("\n", [*lines, f"  and {found.more} more"] if found.more else lines)


def socket_hint(unmet: Iterable[UnmetMatcher]) -> list[str]:
    """Return a line about requests to UNIX sockets, if one of the matchers is for these."""
    globs = (each.matcher.url_glob for each in unmet)
    asked = any(isinstance(glob, str) and is_unix_socket(glob) for glob in globs)
    return [_UNIX_SOCKETS] if asked else []


def applications(agents: Sequence[ConnectedClient], *, heard: bool = False) -> list[str]:
    """Return lines about the connected applications; without any, how to attach one.

    :param heard: whether requests of an application came.
    """
    if not agents:
        return (
            ["No application is connected to the proxy any more."]
            if heard
            else _NOT_ATTACHED.split("\n")
        )
    lines = ["Applications that are connected:", *map(_application, agents[:MOST_AGENTS])]
    return [*lines, f"  and {more} more"] if (more := len(agents) - MOST_AGENTS) > 0 else lines


def _application(agent: ConnectedClient) -> str:
    since = time_of_day(agent.connected_at)
    way = _WAYS.get(agent.kind or "", "the Node agent")
    parts = [f"  {agent.client_id}, by {way}", f"since {since} UTC"]
    if agent.pid is not UNSET:
        parts.append(f"pid {agent.pid}")
    if agent.command is not UNSET:
        parts.append(agent.command)
    return ", ".join(parts)


def request_text(unmet: Unmet, request: SimilarRequest) -> Wording:
    """Return a request in words, with the reasons why it did not meet a route or wait."""
    times = f", {request.count} times" if request.count > 1 else ""
    client = f" (client {request.client_id}{times})"
    text = Wording(f"{request.method} ", request.url, client)
    reasons = _reasons(unmet, request)
    return Wording(text, ": ", joined(", ", reasons)) if reasons else text


def _reasons(unmet: Unmet, request: SimilarRequest) -> list[str]:
    if request.differs:
        return [difference(each) for each in request.differs]
    too_early = "came before the wait began: begin it before the act"
    if unmet == "route":
        too_early = "came before the route was registered"
    if request.undecided:
        return [too_early if request.before else "the predicate did not want it"]
    if unmet == "response" and request.status is UNSET and not request.before:
        if request.failure is UNSET:
            return ["no response yet, or it failed"]
        return [f"no response ({request.failure})"]
    if request.foreign:
        return [f"matches, but was made for the test {request.title!r} in {request.path}"]
    return [too_early] if request.before or unmet != "route" else []
