"""The table of client by feature, in Markdown."""

from collections.abc import Sequence

from tests.interop.clients.clients import ATTACHED, CLIENTS
from tests.interop.clients.features import FEATURES
from tests.interop.clients.matrix import Result

TITLES = {
    "get": "GET: path, query, headers",
    "post": "POST with a body",
    "download": "large body down",
    "upload": "large body up, made while it is sent",
    "event stream": "event stream, event by event",
    "chunked": "chunked answer",
    "without body": "HEAD, 204, 304",
    "kept alive": "many requests after each other",
    "mocked": "mocked by a test",
    "streamed": "streamed by a test, event by event",
    "delayed": "mocked with a delay",
    "broken": "mocked with a fault",
    "overridden": "continued with overrides",
    "aborted": "aborted by a test",
    "refused": "refused by strict mode",
    "redirected": "redirect followed, hops linked",
    "zipped": "gzip left alone",
    "repeated": "repeated headers, cookies",
    "identified": "known by its client id",
    "expected": "`Expect: 100-continue`",
    "websocket": "WebSocket passed through",
    "websocket mocked": "WebSocket mocked by a test",
    "websocket history": "WebSocket connected through, frames in the history",
    "websocket failed": "WebSocket refused by strict mode, or without a server",
}
"""What the table calls the features."""


def table(results: Sequence[Result]) -> str:
    """Write the table, and below it the reasons of all cells that are not ``ok``."""
    titles = {client.name: client.title for client in (*CLIENTS, *ATTACHED)}
    clients = list(dict.fromkeys(result.client for result in results))
    heads = ["Feature", *(titles[client] for client in clients)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    notes: dict[str, int] = {}
    for feature in FEATURES:
        name = feature.__name__.replace("_", " ")
        cells = [_cell(results, client, name, notes) for client in clients]
        lines.append(f"| {TITLES[name]} | {' | '.join(cells)} |")
    reasons = [f"{number}. {reason}" for reason, number in notes.items()]
    failed = {
        f"- {titles[one.client]}, {one.feature}: {one.detail}"
        for one in results
        if one.state == "FAILED"
    }
    return "\n".join([*lines, *_after_a_line(reasons), *_after_a_line(sorted(failed))]) + "\n"


def _cell(results: Sequence[Result], client: str, feature: str, notes: dict[str, int]) -> str:
    """Give both schemes in one word where they agree: http first, then https."""
    mine = [one for one in results if one.client == client and one.feature in {feature, ""}]
    states = ["-" if one.state == "n/a" else one.state for one in mine]
    reasons = dict.fromkeys(one.detail for one in mine if one.state == "n/a")
    state = states[0] if len(set(states)) == 1 else " / ".join(states)
    numbers = [f"[{notes.setdefault(reason, len(notes) + 1)}]" for reason in reasons]
    return " ".join([state, *numbers])


def _after_a_line(lines: Sequence[str]) -> list[str]:
    return ["", *lines] if lines else []
