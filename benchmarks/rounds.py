"""Measures the CPU, latency and memory of a proxy's process in rounds."""

from __future__ import annotations

import contextlib
import gc
import statistics
from collections.abc import Iterator, Sequence
from typing import Protocol

from benchmarks.figures import Figures, Sample, summarise
from benchmarks.generator.event_loop import EventLoop
from benchmarks.generator.loads import Load
from benchmarks.generator.session import Session, SessionRun
from benchmarks.options import RunOptions
from benchmarks.targets import Running, Target, running
from tests.support.processes import process_usage


class RequestCounts(Protocol):
    """The numbers of requests of a load."""

    @property
    def warmup(self) -> int:
        """Requests before the first measured round."""

    @property
    def requests(self) -> int:
        """Requests of each round."""


class MeasuredSession(Protocol):
    """Connected clients that send requests; see :class:`~benchmarks.generator.session.Session`."""

    @property
    def load(self) -> RequestCounts:
        """The load, with its numbers of requests."""

    @property
    def message_count(self) -> int:
        """The number of WebSocket messages so far, in both directions."""

    def settle(self) -> None:
        """Wait until the target has finished all work."""

    def run(self, count: int, seconds: float) -> SessionRun:
        """Send ``count`` requests within ``seconds``."""


def measure(session: MeasuredSession, proxy: Running, requests: int, seconds: float) -> Sample:
    """
    Send ``requests`` requests, and return the proxy's CPU and their latencies.

    :param seconds: time limit.
    """
    session.settle()
    messages = session.message_count
    before = process_usage.cpu_seconds(proxy.pid)
    taken = session.run(requests, seconds)
    session.settle()
    spent = process_usage.cpu_seconds(proxy.pid) - before
    return Sample(
        cpu_us=spent / requests * 1e6,
        latencies=taken.latencies,
        seconds=taken.seconds,
        messages=(session.message_count - messages) / requests,
    )


def in_turns(pairs: Sequence[tuple[MeasuredSession, Running]], amount: RunOptions) -> list[Figures]:
    """
    Warm all sessions up, then measure them in turns.

    :param pairs: the sessions, each with its proxy process.
    :returns: the figures, in the order of ``pairs``.
    """
    samples: list[list[Sample]] = [[] for _ in pairs]
    first = [
        measure(session, proxy, amount.scaled(session.load.warmup), amount.seconds).cpu_us
        for session, proxy in pairs
    ]
    # Long-lived objects of the clients: the garbage collector must not visit them in the rounds.
    gc.collect()
    gc.freeze()
    for _ in range(amount.rounds):
        for (session, proxy), taken in zip(pairs, samples, strict=True):
            requests = amount.scaled(session.load.requests)
            taken.append(measure(session, proxy, requests, amount.seconds))
    return [
        summarise(taken, process_usage.memory(proxy.pid), first_us)
        for (_, proxy), taken, first_us in zip(pairs, samples, first, strict=True)
    ]


def on_new_processes(
    sides: Sequence[tuple[Target, Load]], amount: RunOptions, requests: int
) -> list[Figures]:
    """
    Measure the first requests of new processes, in turns, with new processes for each round.

    :param requests: the number of requests of a round.
    """
    samples: list[list[Sample]] = [[] for _ in sides]
    memory = {}
    for _ in range(amount.rounds):
        for index, (target, load) in enumerate(sides):
            with (
                contextlib.closing(EventLoop()) as loop,
                _session(loop, target, load) as (session, proxy),
            ):
                samples[index].append(measure(session, proxy, requests, amount.seconds))
                memory[index] = process_usage.memory(proxy.pid)
    return [
        summarise(taken, memory[index], statistics.median(each.cpu_us for each in taken))
        for index, taken in enumerate(samples)
    ]


@contextlib.contextmanager
def _session(loop: EventLoop, target: Target, load: Load) -> Iterator[tuple[Session, Running]]:
    """Start a process of a target, and connect the clients of a load to it."""
    with (
        running(target) as proxy,
        contextlib.closing(Session(loop, proxy.address, load)) as session,
    ):
        yield session, proxy


def side_by_side(sides: Sequence[tuple[Target, Load]], amount: RunOptions) -> list[Figures]:
    """Start a new process of each target for its load, and measure all in turns."""
    with contextlib.ExitStack() as stack:
        loop = stack.enter_context(contextlib.closing(EventLoop()))
        return in_turns([stack.enter_context(_session(loop, *side)) for side in sides], amount)
