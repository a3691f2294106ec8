"""Whatever goes wrong, after whichever step: everybody is answered, and nothing stays behind.

For each sequence, each fault, and each step of the sequence: the steps up to it are
sent, the fault strikes, and then those who are still there send the rest. They
know nothing of the fault. The playbook's invariants watch for second answers and wrong records.
"""

import re
from collections.abc import Callable
from typing import Any

from attrs import frozen
from twisted.trial.unittest import SynchronousTestCase

from tests.core.scripts import REQUESTS, SOCKETS, STREAMED, RunningScript, Script, set_up
from tests.support.builders import failure, report
from tests.support.invariants.request_invariants import Row
from tests.support.invariants.websocket_invariants import SocketRow
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound

HELLO = inbound.Hello(3, "0.1.0", "node")


@frozen
class Fault:
    """Something that goes wrong.

    :param strikes: makes it happen.
    :param lost: which connections are gone then.
    :param of_asked: the code that a request gets while tests are asked about it.
    :param of_matched: the code that a matched one gets.
    """

    name: str
    strikes: Callable[[RunningScript], None]
    lost: frozenset[str] = frozenset()
    of_asked: str | None = None
    of_matched: str | None = None


def hang(running: RunningScript) -> None:
    """Let the owner's process hang: it does not even answer pings."""
    running.playbook.muted.add(running.worker.id)
    running.playbook.wait(6)


AGENT, WORKER, ALL = "agent app", "worker 0", frozenset({"agent app", "worker 0", "worker 1"})
FAULTS = (
    Fault("nothing", lambda running: running.playbook.expect()),
    Fault(
        "the agent dies",
        lambda running: running.agent.dies(),
        frozenset({AGENT}),
        "disconnected",
        "disconnected",
    ),
    Fault(
        "the agent says hello again",
        lambda running: running.agent.sends(HELLO),
        frozenset({AGENT}),
        "disconnected",
        "disconnected",
    ),
    Fault(
        "the worker dies",
        lambda running: running.worker.dies(),
        frozenset({WORKER}),
        None,
        "disconnected",
    ),
    Fault("the test ends", lambda running: running.test.ends(), of_matched="disconnected"),
    Fault("time passes", lambda running: running.playbook.wait(6), of_asked="claim_timeout"),
    Fault("the worker hangs", hang, of_asked="claim_timeout"),
    Fault(
        "the service stops",
        lambda running: running.playbook.stop(),
        ALL,
        "disconnected",
        "disconnected",
    ),
)


class Matrix(SynchronousTestCase):
    """The checks; its test methods are made below, one for each sequence and fault."""

    def check(self, script: Script, fault: Fault) -> None:
        for step in range(len(script.lines) + 1):
            try:
                self.check_step(script, fault, step)
            except AssertionError as error:
                after = script.lines[step - 1] if step else "nothing"
                raise AssertionError(f"{fault.name} after {after}:\n{error}") from error

    def check_step(self, script: Script, fault: Fault, step: int) -> None:
        running = set_up(self, script)
        playbook = running.playbook
        for line in script.lines[:step]:
            running.sends(line)
            playbook.take()
        before = {
            key: (row.settled, row.matched, row.asked)
            for key, row in self.requests(running).items()
        }
        sockets = {key: (row.state, set(row.closed)) for key, row in self.sockets(running).items()}
        fault.strikes(running)
        effects = playbook.take()
        for key, (settled, matched, asked) in before.items():
            row = self.requests(running)[key]
            self.check_request(row, fault, settled, matched=matched or asked)
        for key, (was, closed) in sockets.items():
            self.check_socket(self.sockets(running)[key], fault, was, closed, effects)
        self.finish(running, fault, script.lines[step:])
        self.check_the_end(running, fault, script)

    def requests(self, running: RunningScript) -> dict[str, Row]:
        return running.playbook.invariants.requests.rows

    def sockets(self, running: RunningScript) -> dict[str, SocketRow]:
        return running.playbook.invariants.sockets.rows

    # Right after the fault

    def check_request(self, row: Row, fault: Fault, settled: str | None, *, matched: bool) -> None:
        """Check how a fault ends a request, and that its owner stays on record.

        :param matched: it has an owner, who may still wait for its body.
        """
        if settled is not None:
            self.assertEqual(row.settled, settled, "what was settled changed")
            return
        code = fault.of_matched if matched else fault.of_asked
        if code is not None:
            self.assertEqual(row.settled, "error")
            self.assertEqual(row.record.code, code)
            self.assertEqual(row.record.owner is not None, matched, "wrong owner")
            self.assertEqual(row.decision_sent, AGENT not in fault.lost or fault.lost == ALL)
            self.assertTrue(row.answered, "those who saw it were not told")

    def check_socket(
        self, row: SocketRow, fault: Fault, was: str, closed: set[str], effects: Effects
    ) -> None:
        """Check that the other side of an open WebSocket learns of a fault."""
        sent = [effect for effect in effects if isinstance(effect, Send)]
        closed_worker = any(self.closes(send, WORKER) for send in sent)
        closed_agent = any(self.closes(send, AGENT) for send in sent)
        is_open = was == "matched" and "page" not in closed
        if fault.lost == {AGENT}:
            self.assertEqual(closed_worker, is_open)
        elif is_open and (fault.lost or fault.name == "the test ends"):
            self.assertTrue(closed_agent)
        if was == "held" and fault.of_asked:
            self.assertEqual(row.state, "failed")

    def closes(self, send: Send, to: str) -> bool:
        kinds = (inbound.ClosePage, outbound.SocketError)
        return to in send.to and isinstance(send.message, kinds)

    # The rest

    def finish(self, running: RunningScript, fault: Fault, rest: Any) -> None:
        """Play the rest with whoever is there, let time pass, end tests, report what is owed."""
        playbook = running.playbook
        for line in rest:
            peer = {"agent": running.agent, "worker": running.worker, "rival": running.rival}[
                line[0]
            ]
            if peer.id not in fault.lost:
                running.sends(line)
                playbook.take()
        if fault.lost == ALL:
            self.leave(running, ALL)
            return
        playbook.muted.clear()
        playbook.wait(100)
        playbook.take()
        for test in (running.test, running.rival_test):
            if test.worker.id not in fault.lost:
                test.ends()
                playbook.take()
        for key, row in self.requests(running).items():
            if (row.awaiting or not row.recorded) and AGENT not in fault.lost:
                running.agent.sends(report(key, failure()))
                playbook.take()

    def leave(self, running: RunningScript, who: frozenset[str]) -> None:
        """Let these go."""
        for connection_id in sorted(who):
            running.playbook.disconnect(connection_id)
            running.playbook.take()

    def check_the_end(self, running: RunningScript, fault: Fault, script: Script) -> None:
        """Check that all are answered, that nothing is left, and nothing at all without them."""
        invariants = running.playbook.invariants
        self.assertEqual(invariants.requests.unsettled(), [])
        self.assertEqual(invariants.sockets.undecided(), [])
        for key, row in self.requests(running).items():
            self.assertTrue(row.answered or not row.observers, f"{key} was not answered")
            self.assertFalse(row.body_pending, f"the body of {key} is still awaited")
        waiting = [key for key, count in invariants.requests.fetches.items() if count]
        self.assertEqual([key for key in waiting if key[2] not in fault.lost], [])
        self.assertEqual(running.playbook.tables(), self.idle(script, fault))
        self.leave(running, ALL - fault.lost)
        self.assertEqual(running.playbook.tables(), {})

    def idle(self, script: Script, fault: Fault) -> dict[str, list[str]]:
        """List the tables of the same cast when it has had the fault, but no traffic at all."""
        running = set_up(self, script)
        fault.strikes(running)
        running.playbook.take()
        self.finish(running, fault, ())
        return running.playbook.tables()


def _make(script: Script, fault: Fault) -> Callable[[Matrix], None]:
    def test(self: Matrix) -> None:
        self.check(script, fault)

    test.__doc__ = f"{script.name}: when {fault.name} after any step, all are answered once."
    return test


for _script in (*REQUESTS, *STREAMED, *SOCKETS):
    for _fault in FAULTS:
        _name = re.sub(r"\W+", "_", f"test_{_script.name}__{_fault.name}")
        setattr(Matrix, _name, _make(_script, _fault))
