"""``trafficmock doctor``: say which requests lost their test's context, or have another's."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from trafficmock.command.arguments import add_output, command_parser, proxy
from trafficmock.command.exit_status import NOTHING, OK
from trafficmock.command.output.terminal import Terminal, standard_output
from trafficmock.command.rest.list_resources import REQUESTS
from trafficmock.command.rest.rest_client import RestClient
from trafficmock.texts.message_text import printable
from trafficmock.texts.times import time_of_day

_WIDTH = 100
"""The characters of a line where the terminal does not tell its width."""

EXAMPLES = """\
  trafficmock doctor
  trafficmock doctor --json | jq '.lost[].remedy'
"""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    made = command_parser(
        "doctor",
        "Say where requests lost the context of their test, which may carry the context of another "
        "one, and what to do. Those without one that a shared route answered are left out. The "
        "exit status is 1 if there are any, 0 if there are none.",
        EXAMPLES,
    )
    add_output(made, "one object with the groups of requests, and counts")
    return made


def main(words: Sequence[str]) -> int:
    """Run the command.

    :returns: the exit status.
    :raises CommandError: if the proxy does not answer.
    """
    options = parser().parse_args(words)
    terminal = standard_output(options.color)
    found = collect(proxy(options))
    if options.json:
        terminal.line(json.dumps(found))
    else:
        for line in _lines(found, terminal):
            terminal.line(line)
    return NOTHING if found["lost"] or found["mixed"] or found["unhooked"] else OK


def collect(client: RestClient) -> dict[str, Any]:
    """Request the history, and group what lost its context.

    :returns: the object that ``--json`` prints.
    :raises UnreachableError: if no trafficmock proxy answers.
    """
    entries = REQUESTS.get(client, {})
    agents = client.get("/api/connections").document["nodeAgents"]
    return {
        "requests": len(entries),
        "withContext": sum(bool(entry.get("hasContext")) for entry in entries),
        "agents": len(agents),
        "lost": _grouped(entries, "lost"),
        "mixed": _grouped(entries, "mixed"),
        "unhooked": _unhooked(agents),
    }


def _unhooked(agents: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List the libraries that agents cannot change, once for each application and file."""
    rows = [
        {"clientId": agent["clientId"], **each}
        for agent in agents
        for each in agent.get("unhooked", ())
    ]
    return list({tuple(row.values()): row for row in rows}.values())


def _grouped(entries: Iterable[Mapping[str, Any]], what: str) -> list[dict[str, Any]]:
    """Group the entries with a story, ``lost`` or ``mixed``, by what was sent and the remedy."""
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    for entry in entries:
        if (story := entry.get(what)) is None:
            continue
        method, url = entry["request"]["method"], entry["request"]["url"].partition("?")[0]
        key = entry["clientId"], method, url, story["remedy"]
        if key in groups:
            groups[key]["count"] += 1
        else:
            # The newest entry comes first, and its story is told.
            names = {"clientId": entry["clientId"], "method": method, "url": url}
            last = {"count": 1, "lastId": entry["id"], "lastAt": entry["timestamp"]}
            groups[key] = {**names, **last, **story}
    return list(groups.values())


def _lines(found: dict[str, Any], terminal: Terminal) -> Iterator[str]:
    lost, mixed = found["lost"], found["mixed"]
    counted = f"{found['withContext']} of {found['requests']} recorded requests carry a context"
    if not lost:
        yield f"No request lost the context of a test; {counted}."
        if not found["requests"] and not found["agents"]:
            yield "No application is attached: start it with trafficmock run."
    else:
        yield f"{_number(lost)} without a context came while tests with contexts ran; {counted}."
        yield from _stories(lost, terminal)
    if mixed:
        yield ""
        yield (
            f"{_number(mixed)} may carry the wrong context: its test has no route for them, "
            "and one other test has."
        )
        yield from _stories(mixed, terminal)
    for each in found["unhooked"]:
        yield ""
        yield printable(
            f"{each['clientId']} has a copy of {each['library']} in {each['file']} that its agent "
            "cannot change: what it starts later may have no context, or that of another test. "
            "Keep it out of the bundle."
        )


def _number(groups: list[dict[str, Any]]) -> int:
    return sum(each["count"] for each in groups)


def _stories(groups: list[dict[str, Any]], terminal: Terminal) -> Iterator[str]:
    for each in groups:
        times = "once" if each["count"] == 1 else f"{each['count']} times"
        last = time_of_day(each["lastAt"])
        yield ""
        yield (
            f"{terminal.paint(printable(each['method'] + ' ' + each['url']), 'bold')}  "
            f"{printable(each['clientId'])}, {times}, last at {last} UTC"
        )
        for text, style in ((each["how"], None), (each["remedy"], "green")):
            for line in wrap(printable(text), (terminal.width or _WIDTH) - 2):
                yield f"  {terminal.paint(line, style)}"
        yield f"  trafficmock show {printable(each['lastId'])}"
