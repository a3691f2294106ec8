"""One load against one running target: connect everything, taken it, wait until it is through."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from attrs import frozen

from benchmarks.generator.clients import Agent, Worker, nothing

if TYPE_CHECKING:
    from benchmarks.generator.event_loop import EventLoop
    from benchmarks.generator.loads import Load

_SETTLE_SECONDS = 0.05


@frozen
class SessionRun:
    """
    What a run of requests looked like from the agent.

    :param latencies: nanoseconds from announcement to terminal decision, in
        order of decision.
    :param seconds: wall time of the run.
    :param late: how many seconds after its time the latest request was sent. A
        target cannot hold up the sending, so this is the machine's doing, and
        waits in such a run say nothing about the target.
    """

    latencies: list[int]
    seconds: float
    late: float = 0.0


class Session:
    """
    The clients of one load, connected and registered.

    :param loop: the generator's event loop.
    :param address: host and port of the target.
    :param load: what to do.
    """

    def __init__(self, loop: EventLoop, address: tuple[str, int], load: Load) -> None:
        self._loop = loop
        self.load = load
        self._workers = [Worker(loop, address, load, number) for number in range(load.workers)]
        self._agent = Agent(loop, address, load)

    @property
    def message_count(self) -> int:
        """Messages that crossed the target's sockets since the session began, both ways."""
        links = [client.link for client in [*self._workers, self._agent]]
        return sum(link.sent + link.received for link in links)

    def run(self, count: int, seconds: float) -> SessionRun:
        """
        Make ``count`` requests, keeping the load's number of them in flight.

        :param seconds: how long that may take at most.
        :raises BenchmarkError: when it takes longer or an answer is wrong.
        """
        agent = self._agent
        agent.latencies = []
        left = count - min(count, self.load.in_flight)

        def follow() -> None:
            nonlocal left
            if left:
                left -= 1
                agent.start()

        agent.decided = follow
        begun = time.perf_counter()
        for _ in range(min(count, self.load.in_flight)):
            agent.start()
        return self._finish(count, begun, seconds)

    def run_paced(self, count: int, per_second: float, seconds: float) -> SessionRun:
        """
        Make ``count`` requests at fixed times, whatever the target does meanwhile.

        :param per_second: how many are due each second.
        :param seconds: how long all may take at most.
        :raises BenchmarkError: when it takes longer or an answer is wrong.
        """
        agent = self._agent
        agent.latencies = []
        agent.decided = nothing
        begun = time.perf_counter()

        late = 0.0

        def tick(index: int) -> None:
            nonlocal late
            late = max(late, time.perf_counter() - begun - index / per_second)
            agent.start()
            if index + 1 < count:
                self._loop.call_at(begun + (index + 1) / per_second, lambda: tick(index + 1))

        self._loop.call_at(begun, lambda: tick(0))
        taken = self._finish(count, begun, seconds)
        return SessionRun(latencies=taken.latencies, seconds=taken.seconds, late=late)

    def _finish(self, count: int, begun: float, seconds: float) -> SessionRun:
        agent = self._agent
        self._loop.run_until(
            lambda: len(agent.latencies) >= count, seconds, f"{count} decisions ({self.load.name})"
        )
        return SessionRun(latencies=agent.latencies, seconds=time.perf_counter() - begun)

    def settle(self) -> None:
        """Wait until the target has sent all it owes, and a moment more for what it put off."""
        self._agent.barrier()
        for worker in self._workers:
            worker.barrier()
        self._loop.run_for(_SETTLE_SECONDS)

    def close(self) -> None:
        """Cut all connections."""
        for client in [*self._workers, self._agent]:
            client.close()
