"""Who is connected, as ``/api/connections`` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from trafficmock.core.peers import Agent, Worker, connected

if TYPE_CHECKING:
    from trafficmock.core.coordinator import Coordinator
    from trafficmock.core.ownership.registry import RegisteredRoute
    from trafficmock.core.peers import Client


def connections_report(
    coordinator: Coordinator, *, tests: bool = False
) -> dict[str, list[dict[str, Any]]]:
    """List agents and workers in the order in which they connected.

    :param tests: whether the tests of each worker are listed, with their routes.
    """
    clients = coordinator.clients()
    return {
        "nodeAgents": [_client(client) for client in clients if isinstance(client, Agent)],
        "runnerWorkers": [
            _worker(client) | ({"tests": _tests(client)} if tests else {})
            for client in clients
            if isinstance(client, Worker)
        ],
    }


def _client(client: Client) -> dict[str, Any]:
    row: dict[str, Any] = to_builtins(connected(client))
    return row


def _worker(worker: Worker) -> dict[str, Any]:
    row = _client(worker)
    if worker.worker_id is not None:
        row["workerId"] = worker.worker_id
    active = sum(len(test.routes) for test in worker.tests.values())
    return row | {"testCount": len(worker.tests), "routeCount": active + len(worker.inert)}


def _tests(worker: Worker) -> list[dict[str, Any]]:
    return [
        {
            "testId": test.id,
            "title": test.title,
            "file": test.file,
            "routes": [_route(route) for route in test.routes.values()],
        }
        for test in worker.tests.values()
    ]


def _route(route: RegisteredRoute) -> dict[str, Any]:
    return {"routeId": route.id, "kind": route.kind, "matcher": to_builtins(route.matcher)}
