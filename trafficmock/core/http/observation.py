"""The observers of a request, and the time at which the coordinator received it."""

from __future__ import annotations

from msgspec import UNSET, UnsetType, structs

from trafficmock.core.effects import EffectList
from trafficmock.core.ownership.registry import Registry, with_observer
from trafficmock.core.state.lifecycle import Arrival, ContextTest
from trafficmock.core.state.peers import Worker
from trafficmock.core.state.registered import RegisteredTest
from trafficmock.wire.features import CLOCK, CONTEXT
from trafficmock.wire.outbound import RequestObserved


def arrival_of(registry: Registry, now: float) -> Arrival | None:
    """Return the time of a request's arrival, ``None`` if no observer has the feature ``clock``.

    :param now: monotonic seconds.
    """
    asking = registry.asking_when
    return Arrival(_reading(now), asking) if asking else None


def clock_reading(worker: Worker, now: float) -> int | UnsetType:
    """Convert monotonic seconds to microseconds for a worker with the feature ``clock``.

    :returns: ``UNSET`` for a worker without the feature.
    """
    return _reading(now) if CLOCK in worker.features else UNSET


def _reading(now: float) -> int:
    return round(now * 1_000_000)


def observers_of(test: ContextTest, registry: Registry) -> tuple[str, ...]:
    """Return the connections that observe a request with the context of ``test``.

    Workers with the feature ``context`` observe only the traffic of their own tests, and traffic
    without a context.
    """
    if isinstance(test, RegisteredTest) and test.worker.id in registry.observers:
        return with_observer(registry.observers_of_all, test.worker.id)
    return registry.observers_of_all


def may_observe(worker: Worker, test: ContextTest | None) -> bool:
    """Return whether a subscribed worker observes traffic with the context of ``test``."""
    if test is None or CONTEXT not in worker.features:
        return True
    return isinstance(test, RegisteredTest) and test.worker is worker


def send_observed(
    observed: RequestObserved,
    observers: tuple[str, ...],
    test: ContextTest | None,
    arrival: Arrival | None,
    out: EffectList,
) -> None:
    """Send a request to its observers.

    :param test: the test whose context the request carries; only the worker of that test gets its
        id.
    :param arrival: as :func:`arrival_of` returned it.
    """
    if arrival is not None:
        asking = tuple([each for each in observers if each in arrival.asking])
        if asking:
            timed = structs.replace(observed, seen_at=arrival.at)
            send_observed(timed, asking, test, None, out)
            observers = tuple([each for each in observers if each not in arrival.asking])
    if isinstance(test, RegisteredTest) and test.worker.id in observers:
        own = test.worker.id
        observers = tuple([each for each in observers if each != own])
        if observers:
            out.send_all(observers, observed)
        out.send(own, structs.replace(observed, context="own", test_id=test.id))
    elif observers:
        out.send_all(observers, observed)
