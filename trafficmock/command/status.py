"""``trafficmock status``: print the proxy's health, its connections and counts of the history."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trafficmock.command.arguments import add_output, command_parser, proxy
from trafficmock.command.exit_status import OK
from trafficmock.command.output import list_columns
from trafficmock.command.output.terminal import Terminal, standard_output
from trafficmock.command.output.terminal_text import cut
from trafficmock.command.rest.list_resources import REQUESTS, SOCKETS
from trafficmock.command.rest.rest_client import RestClient
from trafficmock.texts.message_text import printable

LISTED = 10
"""The most hosts, and the most tests, in the output for people."""

LONGEST_TITLE = 80

EXAMPLES = """\
  trafficmock status
  trafficmock status --json | jq .connections.nodeAgents
  until trafficmock status >/dev/null 2>&1; do sleep 1; done
"""


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command."""
    made = command_parser(
        "status", "Say whether the proxy answers, who is connected and what is recorded.", EXAMPLES
    )
    add_output(made, "one object with health, connections and counts")
    return made


def main(words: Sequence[str]) -> int:
    """Run the command.

    :returns: the exit status.
    :raises CommandError: if the proxy does not answer.
    """
    options = parser().parse_args(words)
    terminal = standard_output(options.color)
    status = collect(proxy(options))
    if options.json:
        terminal.line(json.dumps(status))
    else:
        for line in _lines(status, terminal):
            terminal.line(line)
    return OK


def collect(client: RestClient) -> dict[str, Any]:
    """Request health, connections and both lists.

    :returns: the object that ``--json`` prints.
    :raises UnreachableError: if no trafficmock proxy answers.
    """
    health = client.get("/health").document
    if health.get("ok") is not True or "protocolVersion" not in health:
        raise client.not_a_proxy_error()
    return {
        "proxyUrl": client.shown,
        "health": health,
        "connections": _connections(client),
        "summary": client.get("/api/summary").document,
        "requests": Counter(entry["action"] for entry in REQUESTS.get(client, {})),
        "webSockets": Counter(entry["outcome"] for entry in SOCKETS.get(client, {})),
    }


def _connections(client: RestClient) -> dict[str, Any]:
    """Request the connections; the npm proxy has the workers in ``playwrightWorkers`` alone."""
    document: dict[str, Any] = client.get("/api/connections").document
    return {"runnerWorkers": document.get("playwrightWorkers", ()), **document}


def _lines(status: Mapping[str, Any], terminal: Terminal) -> Iterator[str]:
    health, connections = status["health"], status["connections"]
    yield f"{terminal.paint('proxy', 'bold')}       {status['proxyUrl']}"
    yield (
        f"            trafficmock {printable(health['version'])}, protocol "
        f"{health['protocolVersion']}, capture {printable(health['historyCapture'])}"
    )
    agents, workers = connections["nodeAgents"], connections["runnerWorkers"]
    yield _counted("agents", agents, terminal)
    for agent in agents:
        line = f"            {_agent(agent)}"
        yield line if terminal.width is None else cut(line, terminal.width)
    yield _counted("workers", workers, terminal)
    for worker in workers:
        yield (
            f"            {printable(worker.get('workerId', worker['clientId']))}  "
            f"{_number(worker['testCount'], 'test')}, {_number(worker['routeCount'], 'route')}"
        )
    if (local := connections.get("local")) is not None:
        yield f"{terminal.paint('local', 'bold')}       {local_line(local)}"
    strict = [*strict_lines(connections)]
    if strict:
        yield f"{terminal.paint('strict', 'bold')}      {strict[0]}"
        yield from (f"            {line}" for line in strict[1:])
    yield _tally("requests", status["requests"], terminal)
    yield from _more(status["summary"].get("requests"), terminal)
    yield _tally("websockets", status["webSockets"], terminal)
    yield from _more(status["summary"].get("webSockets"), terminal)
    yield from _by_host_and_test(status["summary"], terminal)


def local_line(local: Mapping[str, Any]) -> str:
    """Return the line about local decisions, with the share of requests that passed by them."""
    if not local["on"]:
        return "off: agents ask about every request"
    if local["asksAll"]:
        return "on, but a route for any URL, or strict mode, has all requests asked about"
    total = local["passed"] + local["asked"]
    share = f"; {local['passed']} of {_number(total, 'request')}" if total else ""
    return f"on: agents pass what no route can match{share}"


def strict_lines(connections: Mapping[str, Any]) -> Iterator[str]:
    """Return the lines about strict mode: of the service, of runs and of tests."""
    if (service := connections.get("strict")) is not None:
        yield f"the service; {_allows(service)}"
    for worker in connections["runnerWorkers"]:
        name = printable(worker.get("workerId", worker["clientId"]))
        if (run := worker.get("strict")) is not None:
            yield f"what no test owns, by worker {name}; {_allows(run)}"
        if tests := worker.get("strictTestCount", 0):
            yield f"{_number(tests, 'test')} of worker {name}"
    for run in connections.get("lostRuns", ()):
        until = list_columns.clock(run["until"])
        yield f"what no test owns, until {until}, of a run whose worker is gone; {_allows(run)}"


def _allows(strict: Mapping[str, Any]) -> str:
    return f"allows {printable(', '.join(strict['allow'])) or 'nothing'}"


def _agent(agent: Mapping[str, Any]) -> str:
    """Return the line of an agent or a client of the forward proxy."""
    parts = [agent["clientId"], agent.get("kind", "")]
    if (since := agent.get("connectedAt")) is not None:
        parts.append(f"since {list_columns.clock(since)}")
    if (pid := agent.get("pid")) is not None:
        parts.append(f"pid {pid}")
    parts.append(agent.get("command", ""))
    return "  ".join(printable(part) for part in parts if part)


def _counted(name: str, those: Sequence[object], terminal: Terminal) -> str:
    return f"{terminal.paint(name, 'bold')}{' ' * (12 - len(name))}{len(those) or 'none'}"


def _more(totals: Mapping[str, Any] | None, terminal: Terminal) -> Iterator[str]:
    """Yield the counts since the start, if the history does not have all of it."""
    if totals is not None and totals["total"] > totals["recorded"]:
        yield f"            since the start {_counts(totals['decisions'], terminal)}"


def _by_host_and_test(summary: Mapping[str, Any], terminal: Terminal) -> Iterator[str]:
    """Yield the counts of requests and WebSockets since the start, the highest ones first."""
    if "tests" not in summary:  # the proxy is another version
        return
    kinds = ("requests", "webSockets")
    hosts: dict[str, Counter[str]] = {}
    for kind in kinds:
        for host, counts in summary[kind]["hosts"].items():
            hosts.setdefault(host, Counter()).update(counts)
    yield from _highest("hosts", hosts.items(), terminal)
    tests = [(each["title"], each) for each in summary["tests"]]
    tests.append(("(no test)", summary["unowned"]))
    counted = [
        (title, sum((Counter(each[kind]["decisions"]) for kind in kinds), Counter[str]()))
        for title, each in tests
    ]
    yield from _highest("tests", [each for each in counted if each[1]], terminal)


def _highest(
    name: str, counts: Iterable[tuple[str, Counter[str]]], terminal: Terminal
) -> Iterator[str]:
    rows = sorted(counts, key=lambda each: -each[1].total())
    for index, (what, count) in enumerate(rows[:LISTED]):
        start = terminal.paint(name, "bold") + " " * (12 - len(name)) if index == 0 else " " * 12
        yield f"{start}{cut(printable(what), LONGEST_TITLE)}: {_counts(count, terminal)}"
    if len(rows) > LISTED:
        yield f"            and {len(rows) - LISTED} more; --json has all"


def _tally(name: str, counts: Mapping[str, int], terminal: Terminal) -> str:
    return f"{terminal.paint(name, 'bold')}{' ' * (12 - len(name))}{_counts(counts, terminal)}"


def _counts(counts: Mapping[str, int], terminal: Terminal) -> str:
    parts = [
        terminal.paint(f"{number} {printable(action)}", list_columns.COLOURS.get(action))
        for action, number in sorted(counts.items(), key=lambda item: -item[1])
    ]
    return ", ".join(parts) or "none"


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
