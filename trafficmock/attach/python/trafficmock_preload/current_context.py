"""The context of the code that runs now: that of the inbound request which caused it."""

from __future__ import annotations

import sys
from collections import OrderedDict
from contextvars import ContextVar
from time import monotonic, time

from trafficmock_preload.entries.context_reading import MEMBER, carried, trace_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

HEADER = "Trafficmock-Context"
"""The header with the context, for the proxy alone; its value is empty without a context."""

_MOST_KNOWN = 1000


class TestContext:
    """The context of an inbound request, or of a test that runs in this process.

    :param is_forwarded: whether outgoing requests get it as baggage. The id of a trace does not:
        the application's own tracing forwards it.
    :param request: the method and the path of the inbound request.
    :param is_own: whether its test runs in this process.
    :ivar came_at: epoch seconds.
    """

    __slots__ = ("came_at", "closed_at", "id", "is_forwarded", "is_own", "request")

    def __init__(
        self,
        context_id: str,
        *,
        is_forwarded: bool,
        request: tuple[Any, Any] | None = None,
        is_own: bool = False,
    ) -> None:
        self.id = context_id
        self.request = request
        self.came_at = time()
        self.is_forwarded = is_forwarded
        self.is_own = is_own
        self.closed_at: float | None = None

    @property
    def inbound(self) -> tuple[Any, Any, float]:
        """The method, the path and the time of the request, to be shown."""
        return (*(self.request or ("", "")), self.came_at)


class TestContexts:
    """The contexts of this process.

    :param lasting: seconds that a context counts after the end of its inbound request.
    :param is_on: whether contexts are read (``TRAFFICMOCK_CONTEXT``).
    :param now: returns monotonic seconds.
    :ivar seen: is called with each context that comes in with a request.
    :ivar latest: the context that came in last with a request.
    """

    def __init__(
        self, lasting: float, *, is_on: bool = True, now: Callable[[], float] = monotonic
    ) -> None:
        self.is_on = is_on
        self._lasting = lasting
        self._now = now
        self._variable: ContextVar[TestContext | None] = ContextVar("trafficmock", default=None)
        self.seen: Callable[[str], None] = _nothing
        self.latest: TestContext | None = None
        self._known: OrderedDict[str, TestContext] = OrderedDict()

    def read(
        self,
        baggage: str | None,
        cookie: str | None,
        traceparent: str | None,
        request: tuple[Any, Any] | None = None,
    ) -> TestContext | None:
        """Read the context of an inbound request from its headers; ``None`` for none.

        A test client calls the application in its own thread or task, often without headers: such
        a request has the context of the test that runs there.

        :param request: the method and the path of the request, to be shown.
        """
        if not self.is_on:
            return None
        found, running = carried(baggage, cookie), self.running()
        if found is None and running is not None and running.is_own:
            self.seen(running.id)
            return running
        trace = None if found else trace_id(traceparent)
        if found is None and trace is None:
            return None
        context = TestContext(found or trace or "", is_forwarded=found is not None, request=request)
        if request is not None:
            self.latest = context
            if context.is_forwarded:
                self.seen(context.id)
        self._known[context.id] = context
        self._known.move_to_end(context.id)
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return context

    def enter(self, context: TestContext | None) -> None:
        """Set the context of the code that runs from now on in this thread or task."""
        self._variable.set(context)

    def close(self, context: TestContext | None) -> None:
        """Mark the inbound request of a context as over; a test of this process has not ended."""
        if context is not None and context.closed_at is None and not context.is_own:
            context.closed_at = self._now()

    def begin_test(self, context_id: str) -> Callable[[], None]:
        """Set the context of a test that runs in this thread or task.

        :returns: ends the test; it is called in the same thread or task.
        """
        before, context = self.running(), TestContext(context_id, is_forwarded=True, is_own=True)
        self._known[context_id] = context
        self.enter(context)

        def end() -> None:
            context.closed_at = self._now()
            self.enter(before)

        return end

    def running(self) -> TestContext | None:
        """Return the context of this code, whether its inbound request is over or not."""
        return self._variable.get()

    def within(
        self, function: Callable[..., Any], context: TestContext | None
    ) -> Callable[..., Any]:
        """Return a function that calls another one in a context, and has its result."""

        def called(*args: Any, **kwargs: Any) -> Any:
            before = self.running()
            self.enter(context)
            try:
                return function(*args, **kwargs)
            finally:
                self.enter(before)

        return called

    def current(self) -> TestContext | None:
        """Return the context of a request that is sent now."""
        if not self.is_on:
            return None
        context = self._traced() or self._variable.get()
        if context is None or context.closed_at is None:
            return context
        return context if self._now() - context.closed_at <= self._lasting else None

    def _traced(self) -> TestContext | None:
        """Return the context in OpenTelemetry's baggage, which follows code that ours does not."""
        baggage = sys.modules.get("opentelemetry.baggage")
        if baggage is None:
            return None
        try:
            return self._known.get(baggage.get_baggage(MEMBER))
        except Exception:
            # The module is being imported, or is of another version.
            return None

    def outgoing(self) -> list[tuple[str, str]]:
        """Return the header lines to add to a request in a tunnel that the proxy reads."""
        context = self.current()
        if not self.is_on:
            return [(HEADER, "")]
        if context is None:
            from trafficmock_preload import sending_code

            past, latest = self.running(), self.latest
            origin = sending_code.coded(
                None if past is None else past.inbound, None if latest is None else latest.inbound
            )
            return [(HEADER, ""), (sending_code.HEADER, origin)]
        lines = [(HEADER, context.id)]
        if context.is_forwarded:
            lines.append(("baggage", f"{MEMBER}={context.id}"))
        return lines


def _nothing(context_id: str) -> None:
    """Tell nobody of a context."""
