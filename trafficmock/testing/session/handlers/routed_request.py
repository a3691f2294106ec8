"""One request of a test, with the handler that runs."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from attrs import define, field
from msgspec import UNSET, UnsetType, structs

from trafficmock.testing.errors import (
    AlreadyHandledError,
    RequestSettledError,
    TestEndedError,
    UndecidedError,
    UsageError,
)
from trafficmock.testing.promise import Promise, mapped
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.testing.session.arguments.headers import HeadersArgument
from trafficmock.testing.session.arguments.request_overrides import (
    PostData,
    check_scheme,
    overrides,
)
from trafficmock.testing.session.handlers import handler_errors, handler_fetches
from trafficmock.testing.session.handlers.written_stream import WrittenStream
from trafficmock.testing.session.observation.request_state import RequestState, ResponseState
from trafficmock.wire.changed_request import changed_request
from trafficmock.wire.inbound import HandlerResult
from trafficmock.wire.outbound import HandlerRead
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Abort, Fallback, Fetch, Written
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest

if TYPE_CHECKING:
    from trafficmock.testing.session.handlers.http_routes import RouteEntry
    from trafficmock.testing.session.session import Session


class Stage(enum.Enum):
    """The states of a run."""

    RUNNING = "the handler runs"
    FALLEN_BACK = "the handler, which still runs, left the request to the next"
    UNDECIDED = "the handler returned and somebody still holds the route"
    SETTLED = "decided"


@define(eq=False)
class RoutedRequest:
    """A request of this test with one of its handlers (one run of ``handler:run``).

    :param entry: the handler.
    :param run_id: identifies the run in ``handler:result``.
    """

    session: Session
    request: RequestState
    entry: RouteEntry
    run_id: str
    stage: Stage = Stage.RUNNING
    _overrides: SerializedOverrides | UnsetType = field(init=False, default=UNSET, repr=False)
    _stream: WrittenStream | None = field(init=False, default=None, repr=False)
    _route_gone: bool = field(init=False, default=False)
    _has_returned: bool = field(init=False, default=False)
    _refused: UsageError | None = field(init=False, default=None)

    def run(self) -> None:
        """Run the handler."""
        entry = self.entry
        entry.meet(self.request)
        call = entry.begin_call()

        def done(_: Any, error: BaseException | None) -> None:
            if call.resolve(None):
                entry.running.remove(call)
                is_undecided = self.stage is Stage.RUNNING
                # A refusal is the error of a handler that has not awaited the call.
                self._returned(error or (self._refused if is_undecided else None))

        entry.run(self, done)

    def _returned(self, error: BaseException | None) -> None:
        self._has_returned = True
        if self.session.ended:
            return
        if isinstance(error, RequestSettledError):
            self._given_up()
            return
        ignored = self.entry.ignore_errors
        if error is not None:
            error = handler_errors.translated(error)
            if not ignored:
                self.session.record(error, self, self.entry)
        if self._stream is not None and error is not None:
            self._stream.fail()
        if self.stage is Stage.SETTLED:
            return
        if error is not None and not ignored:
            self._settle(Abort("failed", str(error) or type(error).__name__))
        elif error is not None or self.stage is Stage.FALLEN_BACK:
            self._settle(Fallback(self._overrides))
        else:
            self.stage = Stage.UNDECIDED
            if self._route_gone:
                self.abandoned()

    def _given_up(self) -> None:
        """Abort a request that the application gave up while its handler fetched."""
        if self.stage is not Stage.SETTLED:
            self._settle(Abort("aborted"))
            self.session.http.decisions[self.request.id] = "given up"

    def abandoned(self) -> None:
        """Record that the route object was collected, so no decision can follow."""
        self._route_gone = True
        if self.stage is Stage.UNDECIDED and not self.session.ended:
            error = UndecidedError(
                f"{self.request}: {self.entry.name} returned without a decision and kept no hold "
                "on the route; call fulfill, continue_, abort or fallback"
            )
            self.session.record(error, self, None)
            self._settle(Abort("failed", str(error)))

    def let_go(self) -> None:
        """Record that the proxy sends the request upstream (``unroute_all``)."""
        if self.stage is not Stage.SETTLED:
            self._close("continue")

    # What handlers do

    def fulfill(self, options: dict[str, Any]) -> Promise[None]:
        """Answer the request with a response.

        :param options: as they are sent. Wrong ones reject the promise with ``UsageError``, and the
            request is still undecided.
        """
        self._check_open()
        return self._decide(Written("fulfill", options))

    def stream(self, options: dict[str, Any]) -> tuple[WrittenStream, Promise[None]]:
        """Begin to answer the request; the body is written by the stream.

        :param options: those of the head, as in :meth:`fulfill`; wrong ones close the stream, too.
        """
        self._check_open()
        stream = WrittenStream(self.session, self.request, self.entry.place)
        self._stream = stream
        self.session.streams.add(stream)
        read = self._decide(Written("stream", options))

        def lost(read: Promise[None]) -> None:
            if isinstance(read.error, UsageError):
                self._stream = None
                stream.lost(read.error)

        read.watch(lost)
        return stream, read

    def continue_(
        self,
        options: dict[str, Any],
        *,
        url: str | None,
        method: str | None,
        headers: HeadersArgument | None,
        post_data: PostData,
    ) -> Promise[None]:
        """Send the request upstream with all changes so far and these.

        :param options: as in :meth:`fulfill`, of the real answer.
        :raises UsageError: a change is invalid; the request is still undecided.
        """
        self._check_open()
        check_scheme(self.request.wire.url, self.request.shown_url, url)
        before = self.request.current
        changes = self._change(url, method, headers, post_data)
        return self._decide(Written("continue", options, changes), before)

    def abort(self, options: dict[str, Any]) -> Promise[None]:
        """Fail the request with a network error.

        :param options: as in :meth:`fulfill`: ``abort``, one of Playwright's codes, and ``delay``.
        """
        self._check_open()
        return self._decide(Written("abort", options))

    def fallback(
        self,
        *,
        url: str | None,
        method: str | None,
        headers: HeadersArgument | None,
        post_data: PostData,
    ) -> None:
        """Pass the request, with these changes, to the next handler.

        That runs when this handler has returned.

        :raises UsageError: a change is invalid; the request is still undecided.
        """
        self._check_open()
        self._overrides = self._change(url, method, headers, post_data)
        has_returned = self.stage is Stage.UNDECIDED
        self.stage = Stage.FALLEN_BACK
        if has_returned:
            self._settle(Fallback(self._overrides))

    def fetch(self, options: handler_fetches.FetchOptions) -> Promise[ResponseState]:
        """Send the request upstream and return a promise of the response; this is no decision.

        :raises UsageError: an option is invalid; nothing was sent.
        """
        self._check_open()
        sent = handler_fetches.overrides_of(options, self.session.base_url or self.request.url)
        fetch_id, promise = self.session.fetches.begin(self.request.id, options.timeout)
        action = Fetch(
            fetch_id,
            sent,
            UNSET if options.max_redirects is None else options.max_redirects,
            UNSET if options.max_retries is None else options.max_retries,
        )
        self.session.send(HandlerResult(self.request.id, action, self.run_id))
        request = self.request.copy()
        return mapped(promise, lambda response: ResponseState(request, response))

    def _change(
        self,
        url: str | None,
        method: str | None,
        headers: HeadersArgument | None,
        post_data: PostData,
    ) -> SerializedOverrides | UnsetType:
        """Return the changes of the handler for the proxy, and show them in the request."""
        pairs = None if headers is None else hd.strict(headers)
        changes = overrides(url=url, method=method, headers=pairs, post_data=post_data)
        if changes is not UNSET:
            self.request.current = changed_request(self.request.current, changes)
        return changes

    # Ends

    def _check_open(self) -> None:
        if self.session.ended:
            raise TestEndedError(f"{self.request}: the test has ended")
        if self.stage is Stage.SETTLED or self.stage is Stage.FALLEN_BACK:
            raise AlreadyHandledError(f"{self.request}: the route is already handled")

    def _decide(self, made: Written, before: SerializedRequest | None = None) -> Promise[None]:
        """Send a decision; its options are read by the proxy.

        :param before: the request without the changes of the decision.
        :returns: resolved when they are read; rejected with ``UsageError`` if they are wrong.
        """
        self._close("fulfill" if made.call == "stream" else made.call)
        asked = self.session.client.ask(
            ("handler:result", self.run_id), HandlerResult(self.request.id, made, self.run_id)
        )

        def read(message: HandlerRead) -> None:
            if message.error is not UNSET:
                error = UsageError(message.error)
                self._reopen(error, before)
                raise error
            if made.call == "abort":
                self.request.answer(None)
            elif made.call == "fulfill" and message.response and "fault" not in made.options:
                content = body.from_bytes(body_in(made.options))
                response = structs.replace(message.response, body_base64=content)
                self.session.answered_here(self.request, response)

        return mapped(asked, read)

    def _reopen(self, error: UsageError, before: SerializedRequest | None) -> None:
        """Take a decision back whose options were refused; the handler may make another one."""
        if before is not None:
            self.request.current = before
        self.session.http.decisions.pop(self.request.id, None)
        self.session.http.open[self.request.id] = self
        self.stage, self._refused = Stage.RUNNING, error
        if self._has_returned:
            self._returned(error)

    def _settle(self, answer: Abort | Fallback) -> None:
        self._close(_in_words(answer))
        self.session.send(HandlerResult(self.request.id, answer, self.run_id))
        if isinstance(answer, Abort):
            self.request.answer(None)

    def _close(self, decision: str) -> None:
        self.stage = Stage.SETTLED
        self.session.http.open.pop(self.request.id, None)
        self.session.http.decisions[self.request.id] = decision


def _in_words(action: Abort | Fallback) -> str:
    """Return a decision as a word for reports; the text of a handler's error is not repeated."""
    if isinstance(action, Fallback):
        # Unless another handler follows, which then decides.
        return "continue"
    name = type(action).__name__.lower()
    failed = isinstance(action, Abort) and action.message is not UNSET
    return f"{name} because of an error" if failed else name


def body_in(options: dict[str, Any]) -> bytes:
    """Return the body of the answer that options describe, as they are sent."""
    if file := options.get("path"):
        return bytes(file.content)
    for name in ("json", "body"):
        if options.get(name) is not None:
            return bytes(options[name])
    response = options.get("response")
    return b"".join(options.get("chunks") or ()) or (
        body.to_bytes(response.body_base64) if response else b""
    )
