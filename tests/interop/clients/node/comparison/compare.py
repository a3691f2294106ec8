"""Hold a run under the agent against one without, field by field."""

import re
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from tests.interop.clients.node.bench import Run
from tests.interop.clients.node.comparison.normal import normal
from tests.interop.clients.node.modes import Mode

MISSING = "(nothing)"
_SERVERLESS = {"mock", "abort"}
"""Modes in which no request reaches the server."""
_REUSED = "request socket: open"
_CONNECTS = re.compile(
    r"request socket: (?:connecting|open)(?: \| socket (?:lookup|connect|ready|secureConnect))*"
)
_TUNNEL = "request connect |"
"""What a request ``CONNECT`` hears, which some libraries make for one of the application."""
LATE_SECONDS = 1.5
"""A program that ends so much later than without the agent is held up by it."""


@frozen
class Change:
    """
    A field that differs.

    :param call: the call, empty for the program as a whole.
    :param path: which field, like ``result.headers[date]``.
    :param was: without the agent.
    :param now: with it.
    """

    call: str
    path: str
    was: Any
    now: Any


def changes(mode: Mode, before: Run, after: Run) -> Iterator[Change]:
    """List what differs in ``after``, a run in ``mode``, from ``before``."""
    for call in {**before.calls, **after.calls}:
        was, now = (dict(run.calls.get(call, {})) for run in (before, after))
        for each in (was, now):
            seen, got = each.pop("seen", []), each.pop("upstream", [])
            asked = [_asked(entry) for entry in got]
            if mode.name not in _SERVERLESS:
                each["upstream"] = sorted(({**entry, "connection": 0} for entry in got), key=_order)
            elif mode.name == "mock":
                # The test must have got what the server gets otherwise.
                requests = seen or asked
                each["seen"] = sorted(
                    ({key: entry[key] for key in ("method", "url", "body")} for entry in requests),
                    key=_order,
                )
            if each is now and mode.name in _SERVERLESS and len(asked) > _passed(seen):
                yield Change(call, "reached the server", [], asked)
        _events(mode, was, now)
        for path, one, other in _differ("", normal(was), normal(now)):
            yield Change(call, path.lstrip("."), one, other)
    yield from _endings(before, after)


def _events(mode: Mode, was: dict[str, Any], now: dict[str, Any]) -> None:
    """
    Show what the application heard of each request as one text.

    Whether a client may use a connection again depends on the time, and a mock has one of its own:
    where only one of two requests connects, that is no difference. A library opens a tunnel when
    its request is sent, so after the test was asked, and opens none for a mock.
    """
    if "events" not in was or "events" not in now:
        return
    heard = [[_heard(lines) for lines in each["events"]] for each in (was, now)]
    for texts in heard:
        texts.sort(key=lambda text: _TUNNEL in text)
    if mode.name in _SERVERLESS:
        heard[0] = [text for text in heard[0] if _TUNNEL not in text]
    for at, (one, other) in enumerate(zip(*heard, strict=False)):
        if one.startswith(_REUSED) != other.startswith(_REUSED):
            heard[0][at], heard[1][at] = (_CONNECTS.sub(_REUSED, text) for text in (one, other))
    was["events"], now["events"] = heard


def _heard(lines: list[str]) -> str:
    """
    Show events as one text, but for what the network decides.

    That is whether a request is sent before its answer begins, in how many pieces a body comes,
    and what of it is closed first.
    """
    sent = [line for line in lines if line == "request finish"]
    closed = sorted(line for line in lines if line in {"request close", "response close"})
    other = [line for line in lines if line not in {*sent, *closed, "socket close"}]
    told: list[str] = []
    for line in other:
        if line != "response data" or line not in told[-1:]:
            told.append(line)
    return " | ".join([*told, *sent, *closed])


def _passed(seen: list[dict[str, Any]]) -> int:
    return sum("passed" in entry for entry in seen)


def _order(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["method"], entry["url"], str(entry.get("body"))


def _asked(entry: dict[str, Any]) -> dict[str, Any]:
    url = f"{entry['scheme']}://{entry['host']}{entry['url']}"
    return {"method": entry["method"], "url": url, "body": entry.get("body")}


def _endings(before: Run, after: Run) -> Iterator[Change]:
    was, now = (_connections(run) for run in (before, after))
    if now > was + max(1, was // 5):
        yield Change("", "connections", was, now)
    for name in ("status", "stdout", "stderr"):
        was, now = (normal(getattr(run.ended, name)) for run in (before, after))
        if was != now and was is not None:
            yield Change("", name, was, now)
    late = after.ended.seconds - before.ended.seconds
    if late > LATE_SECONDS:
        yield Change("", "exit", before.ended.seconds, after.ended.seconds)
    if after.errors:
        yield Change("", "handler errors", [], after.errors)


def _connections(run: Run) -> int:
    entries = (entry for call in run.calls.values() for entry in call["upstream"])
    return len({entry["connection"] for entry in entries})


def _differ(path: str, was: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    if was == now:
        return
    if isinstance(was, dict) and isinstance(now, dict):
        for key in {**was, **now}:
            yield from _differ(f"{path}.{key}", was.get(key, MISSING), now.get(key, MISSING))
    elif path.endswith(".headers") and isinstance(was, list) and isinstance(now, list):
        yield from _differ_headers(path, was, now)
    elif isinstance(was, list) and isinstance(now, list):
        if len(was) != len(now):
            yield f"{path}.length", len(was), len(now)
        for at, (one, other) in enumerate(zip(was, now, strict=False)):
            yield from _differ(f"{path}.{at}", one, other)
    else:
        yield path, was, now


def _differ_headers(path: str, was: list[Any], now: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Compare values by name, then the names' spelling, then the order of those in both."""
    maps = [_by_name(pairs) for pairs in (was, now)]
    for name in {**maps[0], **maps[1]}:
        one, other = (each.get(name, MISSING) for each in maps)
        if one != other:
            yield f"{path}[{name}]", one, other
    common = maps[0].keys() & maps[1].keys()
    spelled = [[name for name, _ in pairs if name.lower() in common] for pairs in (was, now)]
    if sorted(spelled[0]) != sorted(spelled[1]):
        yield f"{path}.case", spelled[0], spelled[1]
    elif spelled[0] != spelled[1]:
        yield f"{path}.order", spelled[0], spelled[1]


def _by_name(pairs: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        found.setdefault(name.lower(), []).append(value)
    return found
