"""Whose test the code that runs now belongs to: that of the inbound request which led to it."""

from __future__ import annotations

import sys
from collections import OrderedDict
from contextvars import ContextVar
from time import monotonic

from trafficmock_preload.context_reading import MEMBER, carried, trace_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

HEADER = "Trafficmock-Context"
"""Names the context to the proxy, which passes it on to nobody; empty without one."""

_MOST_KNOWN = 1000


class TestContext:
    """What an inbound request carries.

    :param is_forwarded: whether it goes on to hosts of the system under test; the id of a trace
        does by the application's own tracing.
    """

    __slots__ = ("closed_at", "id", "is_forwarded")

    def __init__(self, context_id: str, *, is_forwarded: bool) -> None:
        self.id = context_id
        self.is_forwarded = is_forwarded
        self.closed_at: float | None = None


class TestContexts:
    """The contexts of this process.

    :param lasting: how many seconds one counts after the end of its inbound request.
    :param is_on: whether contexts are read at all.
    :param now: tells the time.
    """

    def __init__(
        self, lasting: float, *, is_on: bool = True, now: Callable[[], float] = monotonic
    ) -> None:
        self.is_on = is_on
        self._lasting = lasting
        self._now = now
        self._variable: ContextVar[TestContext | None] = ContextVar("trafficmock", default=None)
        self._known: OrderedDict[str, TestContext] = OrderedDict()

    def read(
        self, baggage: str | None, cookie: str | None, traceparent: str | None
    ) -> TestContext | None:
        """Give the context of an inbound request, by its headers."""
        if not self.is_on:
            return None
        found = carried(baggage, cookie)
        trace = None if found else trace_id(traceparent)
        if found is None and trace is None:
            return None
        context = TestContext(found or trace or "", is_forwarded=found is not None)
        self._known[context.id] = context
        self._known.move_to_end(context.id)
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return context

    def enter(self, context: TestContext | None) -> None:
        """Let what runs from now on, here, belong to a request; ``None`` for none."""
        self._variable.set(context)

    def close(self, context: TestContext | None) -> None:
        """Take note that the inbound request is over."""
        if context is not None and context.closed_at is None:
            context.closed_at = self._now()

    def running(self) -> TestContext | None:
        """Give the context in which this code runs, over or not."""
        return self._variable.get()

    def current(self) -> TestContext | None:
        """Give the context of a request that is made now."""
        if not self.is_on:
            return None
        context = self._traced() or self._variable.get()
        if context is None or context.closed_at is None:
            return context
        return context if self._now() - context.closed_at <= self._lasting else None

    def _traced(self) -> TestContext | None:
        """Give the one in OpenTelemetry's active baggage, which reaches further than this."""
        baggage = sys.modules.get("opentelemetry.baggage")
        if baggage is None:
            return None
        try:
            return self._known.get(baggage.get_baggage(MEMBER))
        except Exception:
            # It is being imported, or is another version.
            return None

    def outgoing(self) -> list[tuple[str, str]]:
        """Give the header lines for a request that the proxy reads."""
        context = self.current()
        if context is None:
            return [(HEADER, "")]
        lines = [(HEADER, context.id)]
        if context.is_forwarded:
            lines.append(("baggage", f"{MEMBER}={context.id}"))
        return lines
