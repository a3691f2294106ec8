"""Playwright's rules, one coroutine each, written once for all adapters.

A row gets a :class:`~tests.testing.row_context.RowContext`. Blocking calls give their value at
once and ``await t(value)`` takes either, so the same row runs on every adapter.

Which requests a route gets: ``routing``, ``unrouting``, ``matching``, ``conditions``,
``chains``, ``isolation``. What is done with them: ``actions``, ``deciding``, ``fetching``,
``fulfilling``, ``mocking``, ``delaying``, ``sequences``, ``faults``, ``streaming``, ``strict``,
``sockets``. What a test reads: ``handles``, ``objects``, ``observing``, ``fixture``. HAR:
``hars``, ``recording``.
"""

from collections.abc import Iterator
from types import ModuleType

from tests.testing.row_context import Row
from tests.testing.rows import (
    actions,
    chains,
    conditions,
    deciding,
    delaying,
    faults,
    fetching,
    fixture,
    fulfilling,
    handles,
    hars,
    isolation,
    matching,
    mocking,
    objects,
    observing,
    recording,
    routing,
    sequences,
    sockets,
    streaming,
    strict,
    unrouting,
)

MODULES: tuple[ModuleType, ...] = (
    fixture,
    matching,
    conditions,
    routing,
    unrouting,
    chains,
    deciding,
    actions,
    fetching,
    fulfilling,
    mocking,
    delaying,
    sequences,
    faults,
    streaming,
    handles,
    objects,
    observing,
    hars,
    recording,
    sockets,
    isolation,
    strict,
)


def rows() -> Iterator[tuple[str, Row]]:
    """List all rows with the names of their groups."""
    for module in MODULES:
        group = module.__name__.rpartition(".")[2]
        for name, value in vars(module).items():
            if getattr(value, "is_row", False):
                yield f"{group}_{name}", value
