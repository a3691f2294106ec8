# Written from async_stream.py by tools/blocking_api.py: do not edit.
"""The answers that a test writes piece by piece: those of ``stream()``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trafficmock.testing.keywords import methods_check_keywords
from trafficmock.testing.objects.blocking.request import Request
from trafficmock.testing.promise import Promise, chained, mapped
from trafficmock.testing.session.arguments.stream_parts import (
    abort_code,
    content_of,
    json_line,
    server_sent_event,
)
from trafficmock.testing.session.handlers.stream_route import AwaitedStream
from trafficmock.testing.session.handlers.written_stream import WrittenStream

if TYPE_CHECKING:
    from trafficmock.testing.objects.blocking.caller import Caller

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""


@methods_check_keywords
class Stream:
    """An answer whose body a blocking test writes.

    What a call was given has reached the application's process when the call is done. Calls wait
    while the application does not read, at most 30 s. They raise ``StreamClosedError`` if the
    application has closed the answer, when ``end`` and ``abort`` do nothing, and ``UsageError``
    after ``end`` or ``abort``. A test that ends with an open stream fails, and the answer breaks
    off.
    """

    def __init__(self, awaited: AwaitedStream, adapter: Caller) -> None:
        self._awaited = awaited
        self._adapter = adapter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._awaited}>"

    @property
    def request(self) -> Request:
        """The request that is answered; the test waits for it, at most 30 s."""
        return self._adapter.wait_for(
            lambda: mapped(self._awaited.wait(), lambda stream: self._adapter.show(stream.request))
        )

    def send(self, data: str | bytes) -> None:
        """Send a part of the body; text is sent as UTF-8.

        :raises UsageError: ``data`` is neither text nor bytes.
        :raises WaitTimeoutError: no request came, or the application has not read, for 30 s.
        """
        content = content_of(data)
        return self._write(lambda stream: stream.send(content))

    def sse(
        self,
        data: str | None = None,
        *,
        event: str | None = None,
        id: str | None = None,  # noqa: A002 - the field's name
        retry: int | None = None,
        json: Any = None,
    ) -> None:
        """Send a server-sent event (HTML standard, section 9.2).

        :param data: its text; each line becomes a field ``data``.
        :param event: its type.
        :param id: the id that a client repeats in ``last-event-id``.
        :param retry: milliseconds until a client connects again.
        :param json: an object that is sent as JSON, in the place of ``data``.
        :raises UsageError: a value cannot be sent in an event.
        """
        content = server_sent_event(data, event, id, retry, json)
        return self._write(lambda stream: stream.send(content))

    def json_line(self, value: Any) -> None:
        """Send an object as one line of JSON (NDJSON)."""
        content = json_line(value)
        return self._write(lambda stream: stream.send(content))

    def end(self) -> None:
        """End the body."""
        return self._write(lambda stream: stream.end())

    def abort(self, error_code: str | None = None) -> None:
        """Break the answer off, after the parts that were sent.

        :param error_code: one of Playwright's codes, by default ``connectionreset``.
        :raises UsageError: the code is unknown.
        """
        code = abort_code(error_code or "connectionreset")
        return self._write(lambda stream: stream.abort(code))

    def _write(self, call: Callable[[WrittenStream], Promise[None]]) -> None:
        return self._adapter.wait_for(lambda: chained(self._awaited.wait(), call))
