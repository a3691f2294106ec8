"""Each fault is the error that the client has for a real server with it, on each way in."""

import atexit
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.clients import CLIENTS
from tests.interop.clients.faults.fault_table import FAILED, ClientFaults, fault_table
from tests.interop.clients.faults.outcomes import WAYS, FaultStage, Outcome, fault_stage
from tests.support.failing_server import SERVER_FAULTS
from tests.support.hypothesis_profiles import DEEP

QUICK = ("aiohttp", "requests-attached", "fetch")
"""The clients that are not left to the deep tests: one of each way."""


@cache
def shared() -> FaultStage:
    """Give the server and the proxy that all clients of this test run use."""
    held = ExitStack()
    atexit.register(held.close)
    folder = held.enter_context(tempfile.TemporaryDirectory())
    return held.enter_context(fault_stage(Path(folder)))


class FaultErrorTests(SynchronousTestCase):
    """A mock, and a real answer on its way back, break as the answer of a failing server."""

    def run_way(self, way: str) -> None:
        clients = [one for one in WAYS[way] if DEEP or one.name in QUICK]
        present = [client for client in clients if not client.missing()]
        self.assertTrue(present)
        found = [ClientFaults(client, way, shared().outcomes(client, way)) for client in present]
        self.assertNotIn(FAILED, fault_table(found))

    def test_forward_proxy(self) -> None:
        """Clients that are told of the proxy."""
        self.run_way("forward proxy")

    def test_preload(self) -> None:
        """Python processes with the preload."""
        self.run_way("preload")

    def test_node_agent(self) -> None:
        """Node processes with the agent."""
        self.run_way("Node agent")


class FaultTableTests(SynchronousTestCase):
    """The table says what the application catches, and where it is another error."""

    def test_cells(self) -> None:
        """A cell has the error and its last cause, a note, or all three lists."""
        reset, empty = ["Reset", "Cause"], ["Empty"]
        outcomes = [
            Outcome(reset, reset, ["Reset", "Reset", "Cause"]),
            Outcome(["Other", "Cause"], reset, reset),
            Outcome(empty, empty, empty),
            Outcome(reason="it has none"),
            Outcome(empty, empty, reset),
            Outcome((), (), ()),
        ]
        faults = dict(zip(SERVER_FAULTS, outcomes, strict=True))
        text = fault_table([ClientFaults(CLIENTS[0], "forward proxy", faults)])
        self.assertIn(
            "| curl | forward proxy | `Reset` of `Cause` | `Reset` of `Cause` [1] | `Empty` | - [2]"
            " | FAILED: ['Empty'], ['Empty'], ['Reset', 'Cause'] | FAILED: (), (), () |",
            text,
        )
        self.assertIn("\n1. without the proxy `Other` of `Cause`\n2. it has none\n", text)
