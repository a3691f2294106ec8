"""All clients of one proxy under one load, as a session of :mod:`benchmarks.rounds`."""

from __future__ import annotations

import ssl
import time

from benchmarks.forward.clients import ForwardClient, RequestPlan
from benchmarks.forward.loads import ForwardLoad
from benchmarks.generator.event_loop import EventLoop
from benchmarks.generator.session import SessionRun

_SETTLE_SECONDS = 0.05


class ForwardSession:
    """
    The clients of one load, which keep its number of requests in flight.

    :param loop: the generator's event loop.
    :param proxy: host and port of the proxy.
    :param load: the requests to send.
    :param ports: of the upstream server: plain, and with TLS.
    :param authority: the PEM text of the certificate that clients trust.
    """

    def __init__(
        self,
        loop: EventLoop,
        proxy: tuple[str, int],
        load: ForwardLoad,
        ports: tuple[int, int],
        authority: str,
    ) -> None:
        self.load = load
        self._loop = loop
        self._number = 0
        self._left = 0
        self._begun = 0.0
        self._latencies: list[int] = []
        trust = ssl.create_default_context()
        plan = RequestPlan(proxy, load, ports, trust)
        if plan.secure:
            trust.load_verify_locations(cadata=authority)
        self._clients = [self._client(plan) for _ in range(load.in_flight)]

    @property
    def message_count(self) -> int:
        """Always 0: clients of the forward proxy exchange no WebSocket messages."""
        return 0

    def run(self, count: int, seconds: float) -> SessionRun:
        """
        Send ``count`` requests and wait for the answers.

        :param seconds: time limit.
        :raises BenchmarkError: the limit is exceeded, or an answer is wrong.
        """
        self.start(count)
        return self.finish(count, seconds)

    def start(self, count: int) -> None:
        """Begin to send ``count`` requests."""
        self._latencies = []
        self._begun = time.perf_counter()
        first = self._clients[:count]
        self._left = count - len(first)
        for client in first:
            self._ask(client)

    def finish(self, count: int, seconds: float) -> SessionRun:
        """Wait until ``count`` requests have been answered."""
        self._loop.run_until(
            lambda: len(self._latencies) >= count, seconds, f"{count} answers ({self.load.name})"
        )
        return SessionRun(latencies=self._latencies, seconds=time.perf_counter() - self._begun)

    def settle(self) -> None:
        """Wait a moment for deferred work of the proxy."""
        self._loop.run_for(_SETTLE_SECONDS)

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients:
            client.close()

    def _client(self, plan: RequestPlan) -> ForwardClient:
        client = ForwardClient(self._loop, plan, lambda took: self._answered(client, took))
        return client

    def _ask(self, client: ForwardClient) -> None:
        self._number += 1
        client.ask(self._number)

    def _answered(self, client: ForwardClient, took: int) -> None:
        self._latencies.append(took)
        if self._left:
            self._left -= 1
            self._ask(client)
