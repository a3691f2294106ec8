"""Adds to errors the place of the handler, and advice about ambiguous routes."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from trafficmock.errors import TrafficMockError
from trafficmock.testing.errors import (
    IsolationError,
    RepeatedError,
    RoutingError,
    UndecidedError,
    UnmatchedRequestError,
    UsageError,
)
from trafficmock.testing.session.arguments.callables import code_of, readable
from trafficmock.testing.session.observation.request_state import RequestState
from trafficmock.wire.outbound import UNMATCHED, ProxyError

if TYPE_CHECKING:
    from trafficmock.testing.session.handlers.http_routes import RouteEntry

_HOW_TO_SCOPE = (
    "To tell the tests apart, start one application for each worker with a client id of its "
    "own and give it to the route: route(url, handler, client_id=...); or make the URLs differ."
)


def from_proxy(message: ProxyError, test_id: str) -> RoutingError:
    """Return the exception for a ``proxy:error``; for an ambiguous route it names the other tests.

    :param test_id: the test that gets the error.
    """
    detail = None if message.detail is UNSET else message.detail
    if message.code == UNMATCHED and isinstance(detail, dict):
        return _unmatched(message.message, detail)
    lines = [message.message]
    if message.code == "ambiguous_route" and isinstance(detail, list):
        others = (_other(each, test_id, message.message) for each in detail)
        # A test may have several routes of the same matcher.
        lines += dict.fromkeys(line for line in others if line)
        if "client id" not in message.message:
            # The text of trafficmock's proxy has advice; that of the npm proxy, which has no
            # contexts, has none.
            lines.append(_HOW_TO_SCOPE)
    return RoutingError("\n".join(lines), code=message.code, matches=detail)


def _unmatched(text: str, detail: dict[str, Any]) -> UnmatchedRequestError:
    request = (str(detail.get("kind")), str(detail.get("method")), str(detail.get("url")))
    error = UnmatchedRequestError(text, request)
    if detail.get("last"):
        error.add_note("Further requests of this test were refused without an error of their own.")
    return error


def is_repeated(known: RoutingError, error: RoutingError) -> bool:
    """Return whether an error repeats a known one.

    It does if strict mode refused the same method and URL, or the same routes are ambiguous.
    """
    if isinstance(known, UnmatchedRequestError) and isinstance(error, UnmatchedRequestError):
        return known.request == error.request
    return error.code == known.code == "ambiguous_route" and _competing(error) == _competing(known)


def add_notes(errors: list[BaseException], untagged: Sequence[str]) -> None:
    """Add the notes of both functions below."""
    note_repeats(errors)
    note_untagged(errors, untagged)


def note_untagged(errors: Sequence[BaseException], origins: Sequence[str]) -> None:
    """Add a note to errors of missing contexts, if the test's own browser left the context out.

    :param origins: where it sent requests without the context.
    """
    for error in errors:
        is_ambiguous = isinstance(error, RoutingError) and error.code == "ambiguous_route"
        if origins and (is_ambiguous or isinstance(error, IsolationError)):
            error.add_note(
                f"The browser of the test sent requests to {', '.join(origins)} without its "
                "context, because the origins of the application do not name it: add it to the "
                "ini value trafficmock_origins."
            )


def note_repeats(errors: list[BaseException]) -> None:
    """Keep one of the errors that are the same, and add a note with the number of the others.

    A client that sends a request again meets the error of a handler each time.
    """
    repeats: dict[tuple[object, ...], int] = {}
    first: dict[tuple[object, ...], BaseException] = {}
    for error in errors:
        notes = tuple(getattr(error, "__notes__", ()))
        # Only an error with the place of its handler is known to be the same.
        key: tuple[object, ...] = (type(error), str(error), notes) if notes else (id(error),)
        known = first.setdefault(key, error)
        more = error.repeats if isinstance(error, RepeatedError) else 0
        repeats[key] = repeats.get(key, 0) + more + (known is not error)
    for key, error in first.items():
        if count := repeats[key]:
            more_requests = "1 more request" if count == 1 else f"{count} more requests"
            error.add_note(f"{more_requests} met the same.")
    errors[:] = first.values()


def _competing(error: RoutingError) -> list[str]:
    matches = error.matches if isinstance(error.matches, list) else []
    return sorted(str(each.get("routeId")) for each in matches if isinstance(each, dict))


def translated(error: BaseException) -> BaseException:
    """Replace the error of a handler by one that says more.

    Objects of sync Playwright belong to the greenlet, and so to the thread, of the test.
    """
    error = readable(error)
    kind = type(error)
    if (kind.__module__, kind.__name__) == ("asyncio.exceptions", "CancelledError"):
        undecided = UndecidedError(
            "the handler was cancelled, as the end of the test's event loop does, before it had "
            "decided: await the traffic that the test starts"
        )
        return undecided.with_traceback(error.__traceback__)
    if kind.__module__ != "greenlet":
        return error
    clearer = UsageError(
        "a handler used an object of sync Playwright, such as `page`. Handlers of blocking tests "
        "run on a thread of their own, and these objects belong to the thread of the test. Read "
        "from the page before the route is registered, or let the handler put what it found into "
        "a queue and use the page in the test; with async Playwright, handlers may use the page"
    )
    clearer.__cause__ = error
    return clearer.with_traceback(error.__traceback__)


def _other(diagnostic: Any, test_id: str, said: str) -> str:
    if not isinstance(diagnostic, dict) or diagnostic.get("testId") == test_id:
        return ""
    title, file = diagnostic.get("title"), diagnostic.get("file") or ""
    if title and str(title) in said and str(file) in said:
        return ""
    matcher, worker = diagnostic.get("matcher"), diagnostic.get("workerId")
    place = f" in {file}" if file else ""
    return f"Also matched by {title!r}{place} (worker {worker}), matcher {matcher}"


def point_at(error: BaseException, entry: RouteEntry, request: RequestState) -> None:
    """Add notes to an error: the handler that raised it, its line, and the request.

    The traceback is cut to the frames of the test's own code.
    """
    error.add_note(f"in {entry.name}, registered for {entry.matcher}, on {request}")
    code = code_of(entry.handler)
    if code is None:
        return
    own = _frames_in(error, code.co_filename)
    if own:
        _leave_ours_out(error, own)
        frames = traceback.extract_tb(error.__traceback__)
        last = next(frame for frame in reversed(frames) if frame.filename == code.co_filename)
        error.add_note(f"at {last.filename}:{last.lineno}: {last.line}")


def _frames_in(error: BaseException, file: str) -> list[TracebackType]:
    frames, here = [], error.__traceback__
    while here is not None:
        if here.tb_frame.f_code.co_filename == file:
            frames.append(here)
        here = here.tb_next
    return frames


def _leave_ours_out(error: BaseException, own: list[TracebackType]) -> None:
    """Begin a traceback with the test's own code; an error of trafficmock also ends there."""
    if isinstance(error, TrafficMockError):
        own[-1].tb_next = None
    error.__traceback__ = own[0]
