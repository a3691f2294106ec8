"""The clients of one load on one running target, and the runs of their requests."""

from __future__ import annotations

import time

from attrs import frozen

from benchmarks.generator.clients import Agent, Worker, nothing
from benchmarks.generator.event_loop import EventLoop
from benchmarks.generator.loads import Load

_SETTLE_SECONDS = 0.05


@frozen
class SessionRun:
    """
    The times of a run of requests, measured by the agent.

    :param latencies: nanoseconds from announcement to terminal decision, in
        order of decision.
    :param seconds: wall time of the run.
    :param late: the largest delay of a request after its fixed time, in seconds. The
        target cannot delay the sending, so a large value means that the machine was
        busy, and that the latencies are not valid.
    """

    latencies: list[int]
    seconds: float
    late: float = 0.0


class Session:
    """
    The clients of one load, connected and registered.

    :param loop: the generator's event loop.
    :param address: host and port of the target.
    :param load: the requests to send.
    """

    def __init__(self, loop: EventLoop, address: tuple[str, int], load: Load) -> None:
        self._loop = loop
        self.load = load
        self._workers = [Worker(loop, address, load, number) for number in range(load.workers)]
        self._agent = Agent(loop, address, load)

    @property
    def message_count(self) -> int:
        """The number of WebSocket messages since the session began, in both directions."""
        links = [client.link for client in [*self._workers, self._agent]]
        return sum(link.sent + link.received for link in links)

    def run(self, count: int, seconds: float) -> SessionRun:
        """
        Send ``count`` requests, with the load's number of them in flight.

        :param seconds: time limit.
        :raises BenchmarkError: the limit is exceeded, or an answer is wrong.
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
        Send ``count`` requests at fixed times, even if earlier ones are undecided.

        :param per_second: requests per second.
        :param seconds: time limit of all.
        :raises BenchmarkError: the limit is exceeded, or an answer is wrong.
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
        """Wait until the target has answered all clients, and a moment for its deferred work."""
        self._agent.barrier()
        for worker in self._workers:
            worker.barrier()
        self._loop.run_for(_SETTLE_SECONDS)

    def close(self) -> None:
        """Close all connections."""
        for client in [*self._workers, self._agent]:
            client.close()
