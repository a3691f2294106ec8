"""What may differ under the agent, with the reason."""

import re
from collections.abc import Collection

from attrs import field, frozen

from tests.interop.clients.node.comparison.compare import Change


def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


@frozen
class Difference:
    """
    A declared difference.

    :param reason: why it is right, or cannot be otherwise.
    :param modes: in which it comes.
    :param path: of the field, as a regular expression for the whole of it.
    :param call: the library and the call, like ``axios: redirects``, likewise.
    :param now: what the field must be then, likewise.
    :param shown: whether the table of the docs tells of it.
    :param surely: the library and the version of Node with which it must come in each of the modes.
    """

    reason: str
    modes: tuple[str, ...]
    path: re.Pattern[str] = field(converter=_whole)
    call: re.Pattern[str] = field(converter=_whole, default=".*")
    now: re.Pattern[str] = field(converter=_whole, default=".*")
    shown: bool = False
    surely: tuple[tuple[str, int], ...] = ()

    def covers(self, library: str, mode: str, change: Change) -> bool:
        """Say whether it is this one."""
        return (
            mode in self.modes
            and bool(self.path.fullmatch(change.path))
            and bool(self.call.fullmatch(f"{library}: {change.call}"))
            and bool(self.now.fullmatch(str(change.now)))
        )


RIGHT = (
    Difference(
        "the change that the test makes",
        ("continue",),
        r"upstream\.\d+\.headers\[x-added\]",
        now=r"\['yes'\]",
    ),
    Difference(
        "the test gives the headers anew, by names in lower case and in its own order",
        ("continue", "fetch"),
        r"upstream\.\d+\.headers\.(case|order)",
    ),
    Difference(
        "the agent does not look the host up, so the error names it instead of its address",
        ("abort",),
        r".*message|error\.thrown",
        now=r".*connect ECONNREFUSED [-.\w]+:\d+.*",
    ),
    Difference(
        "a test that takes its time, or wants the body first, lets the client connect meanwhile",
        ("abort", "continue", "fetch"),
        r"events\.\d+",
        now=r"request socket: connecting .*socket ready .*request error (ECONNREFUSED|ENOTFOUND).*",
    ),
    Difference(
        "the test is asked before the host is looked up",
        ("mock", "abort"),
        r"seen\.length|error\..*|events\.\d+",
        call=r".*unknown host",
    ),
    Difference(
        "a mock comes over no connection, so it has no headers about one, and a length, "
        "as it is whole from the start",
        ("mock", "fetch"),
        r"result(\.\d+)?\.headers[.\[](connection|keep-alive|transfer-encoding|content-length)\]?",
    ),
    Difference(
        "a handler's fetch is whole or fails: what breaks off is a failed fetch",
        ("fetch",),
        r"error.*|hangs|events\.\d+",
        call=r".*: .*(cut by the server|timeout of the (body|read)|cancelled while it reads)",
    ),
    Difference(
        "a handler gets the bodies of what it fetches decoded",
        ("fetch",),
        r"result.*",
        call=r".*: (gzip left alone|gzip)",
    ),
    Difference(
        "a handler gets the bodies of what it fetches decoded",
        ("fetch",),
        r"result\.headers[.\[]content-encoding\]?",
    ),
    Difference(
        "a request that a test wants has no connection of its own, so no phase of TLS",
        ("mock", "continue", "fetch"),
        r"result\..*",
        call=r"got: phases of its time",
    ),
    Difference(
        "an answer without a body has no length in a mock, which undici takes for a mismatch",
        ("mock", "fetch"),
        r"error|result|hangs",
        call=r"undici\d: status (204|304) with a length",
    ),
    Difference(
        "a mock has no informational responses before it",
        ("mock", "fetch"),
        r"result\.0\.length",
        call=r".*: hints",
        shown=True,
    ),
    Difference(
        "a handler hears that the application gave up while it fetched",
        ("fetch",),
        r"handler errors",
        now=r"[^,]*the application aborted the request[^,]*",
    ),
    Difference(
        "the headers that a test gives hold for redirects, but for those of a body that is gone",
        ("continue",),
        r"upstream\.\d+\.headers\[content-type\]",
        call=r".*: 303 after post",
    ),
    Difference(
        "the headers that a test gives hold for redirects, so the client adds none to a hop",
        ("continue",),
        r"upstream\.\d+\.headers\[referer\]",
        call=r"older-clients: request: redirect",
    ),
    Difference(
        "undici 6 without the agent never ends it when the connection is refused",
        ("abort",),
        r"hangs|error",
        call=r"undici6: interceptor: dns, fetch",
    ),
    Difference(
        "the stack that it shows has lines of the agent",
        ("abort",),
        r"stderr|result\.error\.details",
        call=r"supabase: .*",
    ),
    Difference(
        "the agent says on the standard error that it does not see HTTP/2",
        ("passthrough", "mock", "abort", "continue", "fetch"),
        r"stderr",
        call=r"grpc: ",
        now=r"(trafficmock: HTTP/2 is not seen[^\n]*\n)+",
        shown=True,
    ),
    Difference(
        "a handler gets the bodies of what it fetches decoded, so needle decodes none, of which "
        "Node 24 warns",
        ("fetch",),
        r"stderr",
        call=r"needle: ",
        now="",
    ),
    Difference(
        "got on Node 24 without the agent hides why a connection was refused",
        ("abort",),
        r"error\..*|events\.length",
        call=r"got: (get over http|retry|retry in vain)",
    ),
    Difference(
        "got destroys a request at the end of its answer; Node closes the connection then, without "
        "the agent too, if TLS has not told yet that the request is written",
        ("passthrough", "continue", "fetch", "fallback"),
        r"connections",
        call=r"got: ",
        # The calls need more than 40 if none is used again.
        now=r"[12]?\d",
    ),
)
"""Differences that are as they should be."""

WRONG: tuple[Difference, ...] = ()
"""Differences that are defects of the agent, and shall go."""


def declared(library: str, mode: str, change: Change) -> Difference | None:
    """Find the difference that a change is, if it is one."""
    return next((each for each in (*RIGHT, *WRONG) if each.covers(library, mode, change)), None)


def gone(library: str, node: int, mode: str, found: Collection[Difference]) -> list[Difference]:
    """List the defects that a run of all calls must have shown, and has not."""
    return [
        each
        for each in WRONG
        if mode in each.modes and (library, node) in each.surely and each not in found
    ]
