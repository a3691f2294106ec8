"""The protocol side of a connection: handshake, acknowledgements, messages to sessions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

import msgspec
from attrs import define, field, frozen
from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import ConnectionLostError, RefusedError, RoutingError, UsageError
from trafficmock.testing.promise import Promise, mapped
from trafficmock.testing.session.arguments.allow_patterns import Allowed, allow_patterns
from trafficmock.texts.message_text import without_credentials
from trafficmock.wire import PROTOCOL_VERSION, features, outbound
from trafficmock.wire.inbound import (
    ClosePage,
    CloseServer,
    Hello,
    HistoryQuery,
    Message,
    MessageFromPage,
    MessageFromServer,
    Ping,
    Pong,
    RecordingQuery,
    ReportQuery,
    RequestResponse,
    RunStrict,
    StreamAck,
    StreamClosed,
    UnmatchedQuery,
)
from trafficmock.wire.limits import ACK_SECONDS, FILES_SECONDS
from trafficmock.wire.outbound import TestWarning
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher
from trafficmock.wire.waits import wait_messages

if TYPE_CHECKING:
    from trafficmock.testing.session.handlers.http_routes import RouteEntry
    from trafficmock.testing.session.ports import ProxyLink
    from trafficmock.testing.session.session import Session


@frozen(kw_only=True)
class WorkerIdentity:
    """The contents of ``hello``.

    :param version: the version of trafficmock.
    :param worker_id: the index of the test worker, as text.
    :param token: the proxy's token, if it wants one.
    :param redact: what is secret in texts besides what the proxy knows, or ``off``.
    """

    version: str
    worker_id: str = "0"
    token: str | None = field(default=None, repr=False)
    redact: Sequence[str] = ()

    def hello(self) -> Hello:
        """Return the first message of a connection."""
        return Hello(
            protocol_version=PROTOCOL_VERSION,
            package_version=self.version,
            role="playwright",
            client_id=f"python-{self.worker_id}",
            worker_id=self.worker_id,
            token=UNSET if self.token is None else self.token,
            features=list(features.OF_WORKERS),
            redact=list(self.redact) or UNSET,
            language="python",
        )


WorkerMessage = (
    outbound.HelloOk
    | outbound.HelloError
    | Ping
    | Pong
    | outbound.TestRegistered
    | outbound.TestUnregistered
    | outbound.TestSubscribed
    | outbound.TestStricted
    | outbound.RunStricted
    | outbound.Unmatched
    | outbound.RouteRegistered
    | outbound.HandlerRead
    | outbound.RouteUnregistered
    | outbound.RequestObserved
    | outbound.RequestClaim
    | outbound.HandlerRun
    | outbound.RequestReplied
    | outbound.UntaggedOrigin
    | outbound.RouteExpired
    | RequestResponse
    | outbound.FetchDone
    | outbound.ProxyError
    | TestWarning
    | outbound.HistoryResult
    | outbound.DiagnosisResult
    | outbound.ReportResult
    | outbound.RecordingPiece
    | outbound.SocketClaim
    | outbound.SocketMatched
    | MessageFromPage
    | MessageFromServer
    | ClosePage
    | CloseServer
    | StreamAck
    | StreamClosed
    | wait_messages.WaitJudge
    | wait_messages.WaitMet
    | wait_messages.WaitOverdue
)

_decoder: msgspec.json.Decoder[WorkerMessage] = msgspec.json.Decoder(WorkerMessage)


def decode_for_worker(payload: bytes) -> WorkerMessage | None:
    """Decode one message of the coordinator.

    Lone surrogates, which JavaScript can send, become replacement characters.

    :returns: ``None`` for an invalid message, and for one that this worker does not know: a newer
        coordinator may have more messages.
    """
    try:
        return _decoder.decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    try:
        document = _replace_surrogates(json.loads(payload))
        return _decoder.decode(json.dumps(document).encode())
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_surrogates(item) for item in value]
    return value


@define(eq=False)
class WorkerClient:
    """The protocol side of one connection; every test on it is a session.

    :param link: the connection.
    :param identity: the contents of ``hello``.
    :param ack_seconds: the time limit of an answer, in seconds.
    :param run_age: returns how long ago the run began, in milliseconds.
    :ivar ready: resolved when the proxy has accepted the connection.
    :ivar sessions: the tests, by id.
    """

    link: ProxyLink
    identity: WorkerIdentity
    ack_seconds: float = ACK_SECONDS
    run_age: Callable[[], int] | None = None
    ready: Promise[None] = field(init=False, factory=Promise)
    sessions: dict[str, Session] = field(init=False, factory=dict)
    _asked: dict[tuple[str, str], Promise[Any]] = field(init=False, factory=dict)
    _recordings: dict[str, dict[str, list[bytes]]] = field(init=False, factory=dict, repr=False)
    _pings: int = field(init=False, default=0)
    _lost: Exception | None = field(init=False, default=None)

    def route(self, route_id: str) -> RouteEntry | None:
        """Return a route of any test of this worker by its id."""
        known = (session.http.known.get(route_id) for session in self.sessions.values())
        return next(filter(None, known), None)

    # The connection

    def opened(self) -> None:
        self.send(self.identity.hello())

    def closed(self, reason: str) -> None:
        """Fail all that waits for messages: the connection is lost.

        :param reason: why, for the text of the errors.
        """
        if self._lost is not None:
            return
        shown = without_credentials(self.link.proxy_url)
        error = ConnectionLostError(
            f"lost the connection to the trafficmock proxy at {shown}, which has ended or closed "
            f"it: {reason}"
        )
        self._lost = error
        self.ready.reject(error)
        for promise in list(self._asked.values()):
            promise.reject(error)
        for session in list(self.sessions.values()):
            session.connection_lost(error)

    def send(self, message: Message) -> None:
        """Send a message.

        :raises ConnectionLostError: there is no connection.
        """
        if self._lost is not None:
            raise ConnectionLostError(str(self._lost))
        self.link.send(message)

    def ask(self, key: tuple[str, str], message: Message, *, beyond: float = 0.0) -> Promise[Any]:
        """Send a message and return a promise of its answer.

        :param key: identifies the answer, see ``_ANSWERED``.
        :param beyond: the seconds that the proxy may take in addition; infinite for no limit.
        :returns: rejected with ``ConnectionLostError`` after ``ack_seconds`` and these.
        :raises ConnectionLostError: there is no connection.
        """
        promise: Promise[Any] = Promise()
        self._asked[key] = promise
        limit = self.ack_seconds + beyond
        if limit < inf:
            text = (
                f"the proxy did not answer {key[0]} within {limit:g} s; "
                "TRAFFICMOCK_ACK_TIMEOUT_MS allows more time"
            )
            cancel = self.link.call_later(limit, lambda: promise.reject(ConnectionLostError(text)))
            promise.watch(lambda _: cancel())

        def settled(_: Promise[Any]) -> None:
            if self._asked.get(key) is promise:
                del self._asked[key]

        promise.watch(settled)
        try:
            self.send(message)
        except ConnectionLostError as error:
            promise.reject(error)
            raise
        return promise

    def barrier(self) -> Promise[Any]:
        """Return a promise that is resolved after all messages that the proxy has sent so far."""
        self._pings += 1
        return self.ask(("ping", str(self._pings)), Ping(self._pings))

    def query(
        self,
        since: int | None,
        matcher: SerializedMatcher | UnsetType = UNSET,
        *,
        only_ids: bool | UnsetType = UNSET,
    ) -> Promise[outbound.HistoryResult]:
        """Query the proxy's history.

        :param since: the time of the oldest requests, in epoch milliseconds; ``None`` for all.
        :param matcher: which requests, by default all.
        :param only_ids: whether the entries have nothing but ``id``.
        """
        query_id = self.link.new_id()
        message = HistoryQuery(
            query_id,
            since=UNSET if since is None else since,
            matcher=matcher,
            only_ids=only_ids,
        )
        return self.ask(("query", query_id), message)

    def report(
        self,
        body_bytes: int,
        *,
        test_id: str | None = None,
        since: int | None = None,
        redact: Sequence[str] = (),
        texts: Sequence[str] = (),
    ) -> Promise[outbound.ReportResult]:
        """Query what a report has about a test, or about no test.

        :param body_bytes: the most bytes of each body and frame.
        :param since: as in :meth:`query`.
        :param redact: what is secret besides what the proxy knows, or ``off``.
        :param texts: texts that are redacted as well.
        """
        query_id = self.link.new_id()
        message = ReportQuery(
            query_id,
            body_bytes,
            test_id=UNSET if test_id is None else test_id,
            since=UNSET if since is None else since,
            redact=list(redact),
            texts=list(texts),
        )
        return self.ask(("report", query_id), message)

    def recording(self, test_id: str, route_id: str) -> Promise[dict[str, bytes]]:
        """Get what a route has recorded: contents of files by name, of the entries by ``""``."""
        query_id = self.link.new_id()
        files = self._recordings[query_id] = {}
        question = RecordingQuery(query_id, test_id, route_id)
        asked = self.ask(("recording", query_id), question, beyond=FILES_SECONDS)

        def come(last: outbound.RecordingPiece) -> dict[str, bytes]:
            if last.error is not UNSET:
                raise UsageError(last.error)
            # The proxy may be on another machine, and says what this one writes.
            if outside := [name for name in files if "/" in name or "\\" in name]:
                raise UsageError(f"the proxy names a file in another directory: {outside[0]!r}")
            return {name: b"".join(pieces) for name, pieces in files.items()}

        asked.watch(lambda _: self._recordings.pop(query_id))
        return mapped(asked, come)

    # Strict mode

    def make_run_strict(self, allow: Iterable[Allowed]) -> Promise[None]:
        """Refuse requests that no test owns until this connection is closed.

        :param allow: what is let through.
        :raises UsageError: a pattern is invalid.
        """
        patterns = allow_patterns(allow)
        query_id = self.link.new_id()

        result: Promise[None] = Promise()

        def answered(answer: Promise[outbound.RunStricted]) -> None:
            if answer.error is not None:
                result.reject(answer.error)
            elif answer.value.error is not UNSET:
                result.reject(UsageError(answer.value.error))
            else:
                result.resolve(None)

        begin = RunStrict(query_id, list(patterns), self._age())
        self.ask(("run:strict", query_id), begin).watch(answered)
        return result

    def unmatched(self) -> Promise[outbound.Unmatched]:
        """Query the refused requests that no test owns."""
        query_id = self.link.new_id()
        return self.ask(("unmatched", query_id), UnmatchedQuery(query_id, self._age()))

    def _age(self) -> int | UnsetType:
        return UNSET if self.run_age is None else self.run_age()

    # Messages

    def receive(self, message: WorkerMessage) -> None:  # noqa: C901, PLR0912 - one flat match
        """Handle a message of the proxy."""
        sessions = list(self.sessions.values())
        match message:
            case outbound.HandlerRun():
                if session := self.sessions.get(message.test_id):
                    session.http.run(message)
            case outbound.RequestReplied():
                if session := self.sessions.get(message.test_id):
                    session.http.replied(message)
            case outbound.UntaggedOrigin():
                if session := self.sessions.get(message.test_id):
                    session.untagged.append(message.origin)
            case outbound.RouteExpired():
                for session in sessions:
                    session.http.expired(message)
            case outbound.SocketMatched():
                if session := self.sessions.get(message.test_id):
                    session.sockets.matched(message)
            case outbound.RequestObserved():
                for session in sessions:
                    # A request with a context belongs to the test of that context.
                    if message.test_id in (UNSET, session.id):
                        session.observed(message)
            case RequestResponse():
                for session in sessions:
                    session.responded(message)
            case outbound.RequestClaim():
                if session := self.sessions.get(message.test_id or ""):
                    session.http.claimed(message)
            case outbound.SocketClaim():
                if session := self.sessions.get(message.test_id or ""):
                    session.sockets.claimed(message)
            case outbound.FetchDone():
                for session in sessions:
                    session.fetches.done(message)
            case MessageFromPage() | MessageFromServer() | ClosePage() | CloseServer():
                for session in sessions:
                    session.sockets.receive(message)
            case StreamAck() | StreamClosed():
                for session in sessions:
                    session.stream_moved(message)
            case wait_messages.WaitJudge():
                if session := self.sessions.get(message.test_id):
                    session.observation.judge(message)
            case TestWarning():
                if (session := self.sessions.get(message.test_id)) is not None:
                    session.warned(message)
            case outbound.ProxyError():
                self._refused(message)
            case Ping():
                self.send(Pong(message.at))
            case outbound.HelloOk():
                self._accepted(message)
            case outbound.HelloError():
                self.ready.reject(RefusedError(message.message, code=message.code))
            case _:
                self._answered(message)

    def _accepted(self, message: outbound.HelloOk) -> None:
        known = message.features or ()
        missing = [each for each in features.OF_WORKERS if each not in known]
        if not missing:
            self.ready.resolve(None)
            return
        text = (
            f"what answers at {self.link.proxy_url} is another proxy than trafficmock, or an older "
            f"one (version {message.package_version}): it lacks {', '.join(missing)}, which this "
            f"test worker needs. Start trafficmock {self.identity.version} there "
            '("trafficmock serve")'
        )
        self.ready.reject(RefusedError(text, code="protocol_mismatch"))

    def _refused(self, message: outbound.ProxyError) -> None:
        """Fail the route registration that the proxy refused, else add an error to its tests."""
        asked = self._asked.get(("route:register", message.route_id or ""))
        if asked is not None:
            is_wrong = message.code == "wrong_option"
            text = message.message
            asked.reject(UsageError(text) if is_wrong else RoutingError(text, code=message.code))
            return
        for session in list(self.sessions.values()):
            if message.test_id in (UNSET, session.id):
                session.proxy_error(message)

    def _answered(self, message: WorkerMessage) -> None:
        if isinstance(message, outbound.RecordingPiece) and message.done is UNSET:
            pieces = self._recordings[message.query_id].setdefault(message.file or "", [])
            pieces.append(body.to_bytes(message.body_base64))
            return
        key = _ANSWERED.get(type(message))
        promise = None if key is None else self._asked.get(key(message))
        if promise is not None:
            promise.resolve(message)


_ANSWERED: dict[type, Callable[[Any], tuple[str, str]]] = {
    Pong: lambda message: ("ping", str(message.at)),
    outbound.TestRegistered: lambda message: ("test:register", message.test_id),
    outbound.TestUnregistered: lambda message: ("test:unregister", message.test_id),
    outbound.TestSubscribed: lambda message: ("test:subscribe", message.test_id),
    outbound.TestStricted: lambda message: ("test:strict", message.test_id),
    outbound.RouteRegistered: lambda message: ("route:register", message.route_id),
    outbound.HandlerRead: lambda message: ("handler:result", message.run_id),
    outbound.RouteUnregistered: lambda message: (
        "route:unregister",
        message.route_id or message.test_id or "",
    ),
    outbound.HistoryResult: lambda message: ("query", message.query_id),
    outbound.DiagnosisResult: lambda message: ("diagnosis", message.query_id),
    outbound.ReportResult: lambda message: ("report", message.query_id),
    outbound.RecordingPiece: lambda message: ("recording", message.query_id),
    outbound.RunStricted: lambda message: ("run:strict", message.query_id),
    outbound.Unmatched: lambda message: ("unmatched", message.query_id),
    wait_messages.WaitMet: lambda message: ("wait:register", message.wait_id),
    wait_messages.WaitOverdue: lambda message: ("wait:register", message.wait_id),
}
"""The key of :meth:`WorkerClient.ask` that each answer belongs to."""
