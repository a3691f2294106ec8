"""Whatever goes wrong, after whichever step: everybody is answered, and nothing stays behind.

For each sequence, each fault, and each step of the sequence: the steps up to it are
played, the fault strikes, and then the rest is played by those who are still there, who
know nothing of it. The playbook's ledger watches for second answers and wrong records.
"""

import re
from collections.abc import Callable
from typing import Any

from attrs import frozen
from twisted.trial.unittest import SynchronousTestCase

from tests.core.scripts import REQUESTS, SOCKETS, STREAMED, RunningScript, Script, set_up
from tests.support.builders import failure, report
from tests.support.request_invariants import Row
from tests.support.websocket_invariants import SocketRow
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


def hang(stage: RunningScript) -> None:
    """Let the owner's process hang: it does not even answer pings."""
    stage.play.muted.add(stage.worker.id)
    stage.play.wait(6)


AGENT, WORKER, ALL = "agent app", "worker 0", frozenset({"agent app", "worker 0", "worker 1"})
FAULTS = (
    Fault("nothing", lambda stage: stage.play.expect()),
    Fault(
        "the agent dies",
        lambda stage: stage.agent.dies(),
        frozenset({AGENT}),
        "disconnected",
        "disconnected",
    ),
    Fault(
        "the agent says hello again",
        lambda stage: stage.agent.says(HELLO),
        frozenset({AGENT}),
        "disconnected",
        "disconnected",
    ),
    Fault(
        "the worker dies",
        lambda stage: stage.worker.dies(),
        frozenset({WORKER}),
        None,
        "disconnected",
    ),
    Fault("the test ends", lambda stage: stage.test.ends(), of_matched="disconnected"),
    Fault("time passes", lambda stage: stage.play.wait(6), of_asked="claim_timeout"),
    Fault("the worker hangs", hang, of_asked="claim_timeout"),
    Fault(
        "the service stops", lambda stage: stage.play.stop(), ALL, "disconnected", "disconnected"
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
        stage = set_up(self, script)
        play = stage.play
        for line in script.lines[:step]:
            stage.says(line)
            play.take()
        before = {
            key: (row.settled, row.matched, row.asked) for key, row in self.requests(stage).items()
        }
        sockets = {key: (row.stage, set(row.closed)) for key, row in self.sockets(stage).items()}
        fault.strikes(stage)
        effects = play.take()
        for key, (settled, matched, asked) in before.items():
            row = self.requests(stage)[key]
            self.check_request(row, fault, settled, matched=matched or asked)
        for key, (was, closed) in sockets.items():
            self.check_socket(self.sockets(stage)[key], fault, was, closed, effects)
        self.finish(stage, fault, script.lines[step:])
        self.check_the_end(stage, fault, script)

    def requests(self, stage: RunningScript) -> dict[str, Row]:
        return stage.play.ledger.requests.rows

    def sockets(self, stage: RunningScript) -> dict[str, SocketRow]:
        return stage.play.ledger.sockets.rows

    # Right after the fault

    def check_request(self, row: Row, fault: Fault, settled: str | None, *, matched: bool) -> None:
        """Check what a fault makes of a request, and that its owner stays on record.

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
            self.assertEqual(row.told, AGENT not in fault.lost or fault.lost == ALL)
            self.assertTrue(row.answered, "those who saw it were not told")

    def check_socket(
        self, row: SocketRow, fault: Fault, was: str, closed: set[str], effects: Effects
    ) -> None:
        """Check that the other side of an open WebSocket learns of a fault."""
        sent = [effect for effect in effects if isinstance(effect, Send)]
        told_worker = any(self.closes(send, WORKER) for send in sent)
        told_agent = any(self.closes(send, AGENT) for send in sent)
        is_open = was == "matched" and "page" not in closed
        if fault.lost == {AGENT}:
            self.assertEqual(told_worker, is_open)
        elif is_open and (fault.lost or fault.name == "the test ends"):
            self.assertTrue(told_agent)
        if was == "held" and fault.of_asked:
            self.assertEqual(row.stage, "failed")

    def closes(self, send: Send, to: str) -> bool:
        kinds = (inbound.ClosePage, outbound.SocketError)
        return to in send.to and isinstance(send.message, kinds)

    # The rest

    def finish(self, stage: RunningScript, fault: Fault, rest: Any) -> None:
        """Play the rest with whoever is there, let time pass, end tests, report what is owed."""
        play = stage.play
        for line in rest:
            peer = {"agent": stage.agent, "worker": stage.worker, "rival": stage.rival}[line[0]]
            if peer.id not in fault.lost:
                stage.says(line)
                play.take()
        if fault.lost == ALL:
            self.leave(stage, ALL)
            return
        play.muted.clear()
        play.wait(100)
        play.take()
        for test in (stage.test, stage.rival_test):
            if test.worker.id not in fault.lost:
                test.ends()
                play.take()
        for key, row in self.requests(stage).items():
            if (row.awaiting or not row.recorded) and AGENT not in fault.lost:
                stage.agent.says(report(key, failure()))
                play.take()

    def leave(self, stage: RunningScript, who: frozenset[str]) -> None:
        """Let these go."""
        for connection_id in sorted(who):
            stage.play.disconnect(connection_id)
            stage.play.take()

    def check_the_end(self, stage: RunningScript, fault: Fault, script: Script) -> None:
        """Check that all are answered, that nothing is left, and nothing at all without them."""
        ledger = stage.play.ledger
        self.assertEqual(ledger.requests.unsettled(), [])
        self.assertEqual(ledger.sockets.undecided(), [])
        for key, row in self.requests(stage).items():
            self.assertTrue(row.answered or not row.observers, f"{key} was not answered")
            self.assertFalse(row.body_pending, f"the body of {key} is still awaited")
        waiting = [key for key, count in ledger.requests.fetches.items() if count]
        self.assertEqual([key for key in waiting if key[2] not in fault.lost], [])
        self.assertEqual(stage.play.tables(), self.idle(script, fault))
        self.leave(stage, ALL - fault.lost)
        self.assertEqual(stage.play.tables(), {})

    def idle(self, script: Script, fault: Fault) -> dict[str, list[str]]:
        """List the tables of the same cast when it has had the fault, but no traffic at all."""
        stage = set_up(self, script)
        fault.strikes(stage)
        stage.play.take()
        self.finish(stage, fault, ())
        return stage.play.tables()


def _make(script: Script, fault: Fault) -> Callable[[Matrix], None]:
    def test(self: Matrix) -> None:
        self.check(script, fault)

    test.__doc__ = f"{script.name}: when {fault.name} after any step, all are answered once."
    return test


for _script in (*REQUESTS, *STREAMED, *SOCKETS):
    for _fault in FAULTS:
        _name = re.sub(r"\W+", "_", f"test_{_script.name}__{_fault.name}")
        setattr(Matrix, _name, _make(_script, _fault))
