"""Makes the body of ``/api/connections``: agents, workers, strict mode and local decisions."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from trafficmock.core.coordinator import Coordinator
from trafficmock.core.local.filter_entries import ALL
from trafficmock.core.local.local_decisions import LocalDecisions
from trafficmock.core.ownership.strictness import Strictness
from trafficmock.core.state.peers import Agent, Client, Worker, connected
from trafficmock.core.state.registered import RegisteredRoute
from trafficmock.matching.allow_list import AllowList


def connections_report(coordinator: Coordinator, *, tests: bool = False) -> dict[str, Any]:
    """Return the record ``Connections`` of ``openapi.yaml``, without ``playwrightWorkers``.

    Clients are in the order in which they connected.

    :param tests: whether to list the tests of each worker, with their routes.
    """
    clients = coordinator.clients()
    strictness = coordinator.state.strictness
    return {
        "nodeAgents": [_agent(client) for client in clients if isinstance(client, Agent)],
        "runnerWorkers": [
            _worker(client, strictness) | ({"tests": _tests(client, strictness)} if tests else {})
            for client in clients
            if isinstance(client, Worker)
        ],
        **_strict(strictness.service),
        **_lost(strictness),
        "local": _local(coordinator.local),
    }


def _local(local: LocalDecisions) -> dict[str, Any]:
    """Return whether local decisions are on, and the numbers of requests passed and asked about."""
    return {
        "on": local.is_on,
        "asksAll": ALL in local.entries.sent,
        "passed": sum(agent.passed for agent in local.agents.values()),
        "asked": sum(agent.asked for agent in local.agents.values()),
    }


def _strict(allowed: AllowList | None) -> dict[str, Any]:
    """Return the allow list of strict mode as ``strict``; nothing where it is not in force."""
    return {} if allowed is None else {"strict": {"allow": list(allowed.texts)}}


def _lost(strictness: Strictness) -> dict[str, Any]:
    """Return the strict runs whose workers are lost, with the time at which each ceases to count.

    Workers with the same allow list are taken for one run.
    """
    last: dict[tuple[str, ...], int] = {}
    for allowed, until in strictness.lost_in_force():
        last[allowed.texts] = max(until, last.get(allowed.texts, 0))
    rows = [{"allow": list(texts), "until": until} for texts, until in last.items()]
    return {"lostRuns": rows} if rows else {}


def _client(client: Client) -> dict[str, Any]:
    row: dict[str, Any] = to_builtins(connected(client))
    return row


def _agent(agent: Agent) -> dict[str, Any]:
    local = agent.local
    decided = {} if local is None else {"local": {"passed": local.passed, "asked": local.asked}}
    unhooked = [{"library": each.library, "file": each.file} for each in agent.unhooked]
    return _client(agent) | decided | ({"unhooked": unhooked} if unhooked else {})


def _worker(worker: Worker, strictness: Strictness) -> dict[str, Any]:
    row = _client(worker)
    if worker.worker_id is not None:
        row["workerId"] = worker.worker_id
    active = sum(len(test.routes) for test in worker.tests.values())
    row |= {"testCount": len(worker.tests), "routeCount": active + len(worker.inert)}
    if strict := len(worker.tests.keys() & strictness.tests.keys()):
        row["strictTestCount"] = strict
    return row | _strict(strictness.runs.get(worker.id))


def _tests(worker: Worker, strictness: Strictness) -> list[dict[str, Any]]:
    return [
        {
            "testId": test.id,
            "title": test.title,
            "file": test.file,
            "routes": [_route(route) for route in test.routes.values()],
            **_strict(strictness.tests.get(test.id)),
        }
        for test in worker.tests.values()
    ]


def _route(route: RegisteredRoute) -> dict[str, Any]:
    place = {} if route.place is None else {"place": route.place}
    return {"routeId": route.id, "kind": route.kind, "matcher": to_builtins(route.matcher), **place}
