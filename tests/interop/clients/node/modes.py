"""The ways in which a program is run, and what the test says to its requests in each."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from typing import Any

from attrs import define, field, frozen

from tests.interop.clients.node.upstream import Upstream
from trafficmock.testing.errors import FetchError

MOST_SHOWN = 3000
NOT_WHOLE = {"unfinished", "cut"}
ABORTED = {"reset": "connectionreset", "unknown": "namenotresolved"}
"""Abort codes, by the kind of call that the upstream fails."""
FAILED = {"ENOTFOUND": "namenotresolved", "ECONNREFUSED": "connectionrefused"}
"""Abort codes, by a word in the text of the error with which a fetch failed."""
ADDED = ("x-added", "yes")
"""The header that a changed request has."""


@define
class Decider:
    """
    The test: decides requests while a program runs.

    :param decide: a decision of a mode, ``None`` to want no request.
    :param seen: the requests that it was asked about.
    :param over: set when the call under way has its result.
    """

    upstream: Upstream
    decide: Callable[[Decider, Any, Any], None] | None
    seen: list[dict[str, Any]] = field(factory=list)
    call: str = ""
    over: threading.Event = field(factory=threading.Event)

    def begin(self, call: str) -> None:
        """Say which call comes."""
        self.call, self.over = call, threading.Event()

    def __call__(self, route: Any, request: Any) -> None:
        body = request.post_data_buffer or b""
        self.seen.append(
            {"call": self.call, "method": request.method, "url": request.url, "body": shown(body)}
        )
        assert self.decide is not None
        self.decide(self, route, request)


def shown(body: bytes) -> str:
    """Show a body as the server's log has it (``lib/shown.mjs``)."""
    if len(body) <= MOST_SHOWN:
        return body.decode("latin-1")
    return f"{len(body)} bytes, {hashlib.sha256(body).hexdigest()[:16]}"


def mock(decider: Decider, route: Any, request: Any) -> None:
    """Answer what the server would have answered."""
    over = decider.over
    answer = decider.upstream.ask(_described(request))
    kind = answer["kind"]
    if kind in NOT_WHOLE:
        # No mock is like that.
        decider.seen[-1]["passed"] = True
        route.continue_()
    elif kind in ABORTED:
        route.abort(ABORTED[kind])
    elif kind == "stall":
        over.wait()
        route.abort()
    else:
        body = answer["body"].encode("latin-1")
        route.fulfill(status=answer["status"], headers=answer["headers"], body=body)


def _described(request: Any) -> dict[str, Any]:
    authority, slash, target = request.url.partition("://")[2].partition("/")
    return {
        "method": request.method,
        "host": authority,
        "url": slash + target or "/",
        "headers": [[each["name"], each["value"]] for each in request.headers_array()],
        "body": (request.post_data_buffer or b"").decode("latin-1"),
    }


def abort(_: Decider, route: Any, __: Any) -> None:
    """Fail as when nobody listens there."""
    route.abort("connectionrefused")


def change(_: Decider, route: Any, request: Any) -> None:
    """Send it on with one header more."""
    headers = [(each["name"], each["value"]) for each in request.headers_array()]
    route.continue_(headers=[*headers, ADDED])


def fetch(_: Decider, route: Any, __: Any) -> None:
    """Ask the server, and hand on what it says."""
    try:
        response = route.fetch(max_redirects=0)
    except FetchError as error:
        route.abort(next((code for word, code in FAILED.items() if word in str(error)), "failed"))
    else:
        route.fulfill(response=response)


def fall_back(_: Decider, route: Any, __: Any) -> None:
    """Leave it to nobody: it passes, but the agent has asked about it."""
    route.fallback()


@frozen
class Mode:
    """
    One way to run a program.

    :param against: the run without the agent that it is held against; a run without the agent
        has none.
    :param decide: what the test does; ``None``: it wants no request.
    :param refused: whether nobody listens at the server's ports.
    """

    name: str
    against: str | None = None
    decide: Callable[[Decider, Any, Any], None] | None = None
    refused: bool = False


MODES = {
    mode.name: mode
    for mode in (
        Mode("direct"),
        Mode("refused", refused=True),
        Mode("passthrough", "direct"),
        Mode("mock", "direct", mock),
        Mode("abort", "refused", abort),
        Mode("continue", "direct", change),
        Mode("fetch", "direct", fetch),
        Mode("fallback", "direct", fall_back),
    )
}
ATTACHED = ("passthrough", "mock", "abort", "continue", "fetch")
"""The modes of most libraries, the columns of the table."""
