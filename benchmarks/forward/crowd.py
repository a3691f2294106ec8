"""All callers of one proxy under one load, driven as a session of :mod:`benchmarks.rounds`."""

from __future__ import annotations

import ssl
import time
from typing import TYPE_CHECKING

from benchmarks.forward.callers import Caller, Errand
from benchmarks.session import Drive

if TYPE_CHECKING:
    from benchmarks.forward.loads import ForwardLoad
    from benchmarks.link import Hub

_SETTLE_SECONDS = 0.05


class Crowd:
    """
    Callers that keep the load's number of requests in flight.

    :param hub: the generator's event loop.
    :param proxy: where the proxy listens.
    :param load: what is asked.
    :param ports: of the upstream server: plain, and with TLS.
    :param authority: the certificate that callers trust, in PEM.
    """

    def __init__(
        self,
        hub: Hub,
        proxy: tuple[str, int],
        load: ForwardLoad,
        ports: tuple[int, int],
        authority: str,
    ) -> None:
        self.load = load
        self._hub = hub
        self._number = 0
        self._left = 0
        self._begun = 0.0
        self._latencies: list[int] = []
        trust = ssl.create_default_context()
        errand = Errand(proxy, load, ports, trust)
        if errand.secure:
            trust.load_verify_locations(cadata=authority)
        self._callers = [self._caller(errand) for _ in range(load.in_flight)]

    @property
    def message_count(self) -> int:
        """Callers exchange no messages of the coordinator."""
        return 0

    def run(self, count: int, seconds: float) -> Drive:
        """
        Make ``count`` requests.

        :param seconds: how long that may take at most.
        :raises BenchmarkError: when it takes longer or an answer is wrong.
        """
        self.start(count)
        return self.finish(count, seconds)

    def start(self, count: int) -> None:
        """Begin to make ``count`` requests."""
        self._latencies = []
        self._begun = time.perf_counter()
        first = self._callers[:count]
        self._left = count - len(first)
        for caller in first:
            self._ask(caller)

    def finish(self, count: int, seconds: float) -> Drive:
        """Wait until ``count`` requests have been answered."""
        self._hub.run_until(
            lambda: len(self._latencies) >= count, seconds, f"{count} answers ({self.load.name})"
        )
        return Drive(latencies=self._latencies, seconds=time.perf_counter() - self._begun)

    def settle(self) -> None:
        """Give the proxy a moment for what it put off."""
        self._hub.run_for(_SETTLE_SECONDS)

    def close(self) -> None:
        """Cut all connections."""
        for caller in self._callers:
            caller.close()

    def _caller(self, errand: Errand) -> Caller:
        caller = Caller(self._hub, errand, lambda took: self._answered(caller, took))
        return caller

    def _ask(self, caller: Caller) -> None:
        self._number += 1
        caller.ask(self._number)

    def _answered(self, caller: Caller, took: int) -> None:
        self._latencies.append(took)
        if self._left:
            self._left -= 1
            self._ask(caller)
