"""Ask for answers that break, at the failing server itself and through the proxy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from tests.interop.clients.cell import HOST, Cell, FailedError, NotAvailableError
from tests.interop.clients.clients import ATTACHED, CLIENTS, NODE_LIBRARIES, Client
from tests.interop.clients.matrix import TOKEN, ClientMatrix
from tests.support.failing_server import SERVER_FAULTS, WHOLE, ServerFault, failing_server
from tests.support.processes.proxy_process import running_proxy
from trafficmock.testing import sync
from trafficmock.testing.sync import Route

SECONDS = 3.0
"""After which clients give up an answer that stalls."""

WAYS = {
    way: tuple(client for client in clients if "websocket" not in client.name)
    for way, clients in (
        ("forward proxy", CLIENTS),
        ("preload", ATTACHED),
        ("Node agent", NODE_LIBRARIES),
    )
}
"""The ways in, with the clients that have each of them, but those for WebSockets only."""

LOOPBACK = "127.0.0.1"
_ONLY_HEADS = {"java": "its time-out is for the head of an answer only"}


@frozen
class Outcome:
    """
    What came of a fault.

    :param real: the names of a client's error and its causes, of a real server's fault.
    :param mock: those of a mock's.
    :param continued: those of a real answer that breaks on its way back.
    :param reason: why there are none.
    """

    real: Sequence[str] = ()
    mock: Sequence[str] = ()
    continued: Sequence[str] = ()
    reason: str = ""

    @property
    def is_faithful(self) -> bool:
        """Whether each is an error, and all of them have the same cause."""
        if self.reason:
            return True
        causes = {tuple(each[-1:]) for each in (self.real, self.mock, self.continued)}
        return len(causes) == 1 and causes != {()}


@frozen
class FaultStage:
    """
    The failing server, and a proxy with a test that makes the same faults.

    :param ready: the proxy; its server is the failing one.
    """

    ready: ClientMatrix

    def outcomes(self, client: Client, way: str) -> Mapping[ServerFault, Outcome]:
        """Ask for each fault, in one process of the client without the proxy, and one with it.

        :param way: a key of :data:`WAYS`.
        """
        environment = self.ready.environment(
            client.name, preload=way == "preload", agent=way == "Node agent"
        )
        with (
            self._started(evolve(client, attached=False), {}) as alone,
            self._started(client, environment) as behind,
        ):
            # An attached Node process looks names up itself.
            host = LOOPBACK if way == "Node agent" else HOST
            return {fault: _outcome(fault, alone, behind, host) for fault in SERVER_FAULTS}

    @contextmanager
    def _started(self, client: Client, environment: Mapping[str, str]) -> Iterator[Cell]:
        child = client.start(self.ready.folder, {"CLIENT_SECONDS": str(SECONDS), **environment})
        try:
            yield Cell(client.name, "http", child, self.ready.ports["http"], self.ready.url)
        finally:
            child.stop()


def _outcome(fault: ServerFault, alone: Cell, behind: Cell, host: str) -> Outcome:
    if fault.kind == "stall" and alone.client in _ONLY_HEADS:
        return Outcome(reason=_ONLY_HEADS[alone.client])
    try:
        return Outcome(
            _causes(lambda: alone.ask("GET", fault.path, host=LOOPBACK)),
            _causes(lambda: behind.ask("GET", f"/mock{fault.path}", host=host)),
            _causes(lambda: behind.ask("GET", f"/continued{fault.path}", host=host)),
        )
    except NotAvailableError as why:
        return Outcome(reason=str(why))


def _causes(ask: Callable[[], object]) -> Sequence[str]:
    try:
        ask()
    except FailedError as error:
        return list(error.causes)
    return ()


@contextmanager
def fault_stage(folder: Path) -> Iterator[FaultStage]:
    """
    Start everything, until the block ends.

    :param folder: for what clients build, and the proxy's authority.
    """
    with ExitStack() as stack:
        port = stack.enter_context(failing_server())
        options = ["--ca-dir", str(folder / "ca"), "--resolve", f"{HOST}:{port}:127.0.0.1"]
        running = stack.enter_context(running_proxy(*options, "--token", TOKEN))
        mocks = stack.enter_context(sync.mocks(running.url, token=TOKEN))
        for fault in SERVER_FAULTS:
            _register(mocks, fault)
        yield FaultStage(ClientMatrix(running.url, running.process.pid, {"http": port}, folder))


def _register(mocks: Any, fault: ServerFault) -> None:
    def handler(route: Route) -> None:
        route.continue_(fault=fault.kind, after=fault.after)

    mocks.mock(f"**/mock{fault.path}", body=WHOLE, fault=fault.kind, after=fault.after)
    mocks.route(f"**/continued{fault.path}", handler)
