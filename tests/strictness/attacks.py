"""The attacks. Each returns how often it was done, and what left that should not have."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from attrs import define

from tests.strictness.lab import ALLOWED, Lab, Seen, Worker, chance, now_ms
from trafficmock.testing import sync
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.session.session import TestInfo

if TYPE_CHECKING:
    from collections.abc import Callable

UNOWNED = {"node", "preload", "plain"}
STRICT = TestInfo(title="strict", file="t.py", strict=True)


@define
class Result:
    """What came of an attack.

    :param leaked: what left though strict mode was in force.
    """

    rounds: int
    leaked: list[Seen]


def restart(lab: Lab, rounds: int) -> Result:
    """End a strict service, by a signal that it hears of or not, and start it again."""
    options = ("--strict", "--allow", ALLOWED)
    lab.end_service(signal.SIGTERM)
    lab.start_service(*options)
    since = now_ms()
    for _ in range(rounds):
        time.sleep(chance.uniform(0, 0.3))
        lab.end_service(chance.choice([signal.SIGKILL, signal.SIGTERM]))
        time.sleep(chance.uniform(0, 0.5))
        lab.start_service(*options)
        time.sleep(chance.uniform(0.5, 1.5))
    found = lab.leaked(since, now_ms(), UNOWNED)
    lab.end_service(signal.SIGTERM)
    lab.start_service()
    return Result(rounds, found)


def link(lab: Lab, rounds: int) -> Result:
    """Cut or hold the link between agent and service, in a strict run and a strict test."""
    connection = ThreadedConnection(lab.url)
    connection.make_run_strict([ALLOWED])
    since = now_ms()
    mocks, _ = sync.begin(connection, STRICT)
    for _ in range(rounds):
        lab.go("own", context=mocks.id, count=20, spread=30)
        time.sleep(chance.uniform(0, 0.2))
        if chance.random() < 0.5:
            lab.relay.cut()
        else:
            lab.relay.hold(chance.uniform(0, 1.5))
    until = now_ms()
    found = lab.leaked(since, until, {*UNOWNED, "own"})
    sync.finish(mocks)
    connection.close()
    return Result(rounds, found)


def tests(lab: Lab, rounds: int) -> Result:
    """Begin and end strict tests of a run that is not strict, while their requests go on."""
    connection = ThreadedConnection(lab.url)
    since, contexts = now_ms(), []
    for number in range(rounds):
        mocks, _ = sync.begin(connection, STRICT)
        contexts.append(mocks.id)
        if number % 3 == 0:
            mocks.route("**/own", lambda route: route.fulfill(body="mine"), times=2)
        elif number % 3 == 1:
            mocks.route(lambda url: "nothing" in url, lambda route: route.fulfill(body=""))
        else:
            mocks.mock("**/own", body="mine", times=1)
        lab.go("own", context=mocks.id, count=12, spread=15)
        time.sleep(chance.uniform(0, 0.1))
        sync.finish(mocks)
        # Late ones, on top of those that still come.
        lab.go("own", context=chance.choice(contexts[-20:]), count=3, spread=5)
    time.sleep(0.5)
    found = lab.leaked(since, now_ms(), {"own"})
    connection.close()
    return Result(rounds, found)


def workers(lab: Lab, rounds: int) -> Result:
    """Kill the only worker of a strict run, or stop it for a while; the next one comes."""
    worker = Worker.start(lab.url)
    since = now_ms()
    for _ in range(rounds):
        lab.go("own", context=worker.context, count=40, spread=40)
        time.sleep(chance.uniform(0, 0.3))
        process = worker.child.process
        if chance.random() < 0.3:
            process.send_signal(signal.SIGSTOP)
            time.sleep(chance.uniform(0, 2))
            process.send_signal(signal.SIGCONT)
            continue
        process.kill()
        time.sleep(chance.uniform(0, 1))
        worker.child.stop()
        worker = Worker.start(lab.url)
    found = lab.leaked(since, now_ms(), {*UNOWNED, "own"})
    worker.child.stop()
    return Result(rounds, found)


def between(lab: Lab, rounds: int) -> Result:
    """Begin and end tests that are not strict in a strict run: what is nobody's stays."""
    connection = ThreadedConnection(lab.url)
    connection.make_run_strict([ALLOWED])
    since = now_ms()
    for _ in range(rounds):
        time.sleep(chance.uniform(0, 0.05))
        mocks, _ = sync.begin(connection, TestInfo(title="any", file="t.py", strict=True))
        mocks.route("**/plain", lambda route: route.fulfill(body="mine"), times=1)
        time.sleep(chance.uniform(0, 0.05))
        sync.finish(mocks)
    until = now_ms()
    found = lab.leaked(since, until, UNOWNED)
    connection.close()
    return Result(rounds, found)


ATTACKS: dict[str, Callable[[Lab, int], Result]] = {
    "restart": restart,
    "link": link,
    "tests": tests,
    "workers": workers,
    "between": between,
}
