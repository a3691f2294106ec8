"""The connection of Twisted tests, on the reactor (Autobahn's WebSocket client)."""

from __future__ import annotations

import contextlib
import secrets
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autobahn.exception import Disconnected
from autobahn.twisted.websocket import WebSocketClientFactory, WebSocketClientProtocol
from twisted.internet.defer import Deferred, succeed
from twisted.internet.endpoints import HostnameEndpoint
from twisted.logger import Logger

from trafficmock.testing.adapters.ack_timeout import ack_seconds
from trafficmock.testing.adapters.proxy_address import unreachable, websocket_url
from trafficmock.testing.adapters.twisted_adapter import (
    DeferredTrafficMock,
    TwistedAdapter,
    as_deferred,
)
from trafficmock.testing.errors import ConnectionLostError
from trafficmock.testing.reporting.case_report import end_block, failed_by
from trafficmock.testing.reporting.guard import guarded
from trafficmock.testing.reporting.record_of_test import asked_texts
from trafficmock.testing.reporting.run_age import run_age
from trafficmock.testing.reporting.run_recorder import RunRecorder, recorder
from trafficmock.testing.session.ports import Cancel
from trafficmock.testing.session.session import Session, TestInfo
from trafficmock.testing.session.traffic_report import traffic
from trafficmock.testing.session.worker_client import (
    WorkerClient,
    WorkerIdentity,
    decode_for_worker,
)
from trafficmock.wire.codec import encode
from trafficmock.wire.inbound import Message

if TYPE_CHECKING:
    from twisted.python.failure import Failure

OPEN_SECONDS = 10.0


class _Protocol(WebSocketClientProtocol):
    """Passes Autobahn's events to the connection."""

    log = Logger()
    connection: TwistedConnection

    def onOpen(self) -> None:  # noqa: N802 - autobahn's name
        self.connection.opened(self)

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: ARG002, FBT001, N802, N803 - autobahn's signature
        try:
            self.connection.received(payload)
        except Exception:  # noqa: BLE001 - autobahn would keep it to itself
            self.log.failure("a message of the proxy could not be handled")

    def onClose(self, wasClean: bool, code: int | None, reason: str | None) -> None:  # noqa: ARG002, FBT001, N802, N803 - autobahn's signature
        self.connection.lost(reason or f"closed with code {code}")


class TwistedConnection:
    """A connection for several tests, one after another; it is used on the reactor's thread.

    :param reactor: for time and sockets.
    :param proxy_url: the proxy's URL.
    :param identity: the contents of ``hello``.
    """

    def __init__(self, reactor: Any, proxy_url: str, identity: WorkerIdentity) -> None:
        self.proxy_url = proxy_url
        self.client = WorkerClient(self, identity, ack_seconds(), run_age)
        self._reactor = reactor
        self._protocol: _Protocol | None = None
        self._connecting: Deferred[Any] = succeed(None)
        self._is_closing = False
        self._gone: Deferred[None] = Deferred()

    def open(self) -> Deferred[None]:
        """Connect, send ``hello`` and wait for the answer.

        :returns: a Deferred that fails with ``ConnectionLostError`` if no proxy answers, and with
            ``RefusedError`` if the proxy refuses the connection.
        :raises UsageError: the URL is not that of a proxy.
        """
        url = websocket_url(self.proxy_url)
        factory = WebSocketClientFactory(url, reactor=self._reactor)
        factory.setProtocolOptions(
            openHandshakeTimeout=OPEN_SECONDS, closeHandshakeTimeout=2, tcpNoDelay=True
        )

        def build() -> _Protocol:
            protocol = _Protocol()
            protocol.connection = self
            return protocol

        factory.protocol = build
        endpoint = HostnameEndpoint(self._reactor, factory.host, factory.port)
        self._connecting = endpoint.connect(factory)
        self._connecting.addErrback(self._not_there)
        return as_deferred(self.client.ready)

    def close(self) -> Deferred[None]:
        self._is_closing = True
        if self._protocol is None:
            self._connecting.cancel()
            return succeed(None)
        self._protocol.sendClose(1000)
        return self._gone

    def _not_there(self, failure: Failure) -> None:
        error = failure.value or ConnectionError("no reason was given")
        self.client.ready.reject(unreachable(self.proxy_url, error))
        self.client.closed(str(error))

    # What autobahn reports

    def opened(self, protocol: _Protocol) -> None:
        self._protocol = protocol
        if self._is_closing:
            protocol.sendClose(1000)
        else:
            self.client.opened()

    def received(self, payload: bytes) -> None:
        message = decode_for_worker(payload)
        if message is not None:
            self.client.receive(message)

    def lost(self, reason: str) -> None:
        """Fail everything that waits, because the connection is lost."""
        if not self.client.ready.done:
            self.client.ready.reject(unreachable(self.proxy_url, ConnectionError(reason)))
        self.client.closed(reason)
        self._protocol = None
        if self._is_closing and not self._gone.called:
            self._gone.callback(None)

    # The link

    def send(self, message: Message) -> None:
        if self._protocol is not None:
            # Nothing can be sent while the connection closes; Autobahn then calls :meth:`lost`.
            with contextlib.suppress(Disconnected):
                self._protocol.sendMessage(encode(message))

    def call_later(self, seconds: float, function: Callable[[], object]) -> Cancel:
        timer = self._reactor.callLater(seconds, function)

        def cancel() -> None:
            if timer.active():
                timer.cancel()

        return cancel

    def new_id(self) -> str:
        """Return a random UUID."""
        return str(uuid.uuid4())

    def new_context(self) -> str:
        """Return 128 random bits as 32 lower-case hexadecimal characters."""
        return secrets.token_hex(16)

    def epoch_ms(self) -> int:
        """Return the time in milliseconds since 1970."""
        return round(time.time() * 1000)

    def monotonic_us(self) -> int:
        """Return the monotonic clock of this machine, in microseconds."""
        return time.monotonic_ns() // 1000

    # Tests

    async def begin(self, info: TestInfo) -> DeferredTrafficMock:
        """Register a test, and return its mocks."""
        adapter = TwistedAdapter(self._reactor)
        session = Session(self.new_id(), info, self.client, adapter)
        await as_deferred(session.start())
        return DeferredTrafficMock(adapter, session)

    async def traffic(self, session: Session) -> str:
        """Return the report of a test's traffic; empty where the connection is lost.

        It raises nothing: it is read where a test has failed by something else.
        """
        problems: list[str] = []
        with (
            guarded("list the traffic of this test", problems.append),
            contextlib.suppress(ConnectionLostError),
        ):
            return await as_deferred(traffic(session))
        return "\n".join(problems)

    async def report(self, session: Session, *, failed: bool | None) -> None:
        """Offer the traffic of a session that has ended to the report of the run, if there is one.

        So is what no test owned since the session began.

        :param failed: whether its test has failed; ``None`` if that is not known yet.
        """
        if (run := recorder()) is not None:
            with guarded("report the traffic of a test", run.fail):
                await self._report(run, session, failed=failed)

    async def _report(self, run: RunRecorder, session: Session, *, failed: bool | None) -> None:
        run.add_hars(session)
        client, since = self.client, session.started_at
        if not run.wants(failed=failed):
            # Nobody can ask for its counts later.
            with contextlib.suppress(ConnectionLostError):
                counted = await as_deferred(client.report(**run.counted))
                run.heard(counted)
            return
        try:
            own = await as_deferred(
                client.report(test_id=session.id, texts=asked_texts(session, ""), **run.asked)
            )
            run.offer(session, own)
            others = await as_deferred(client.report(since=since, **run.asked))
            run.unowned(others)
            answer = await as_deferred(client.unmatched())
        except ConnectionLostError as error:
            run.offer(session, None, str(error))
        else:
            run.refused(answer.requests, answer.dropped)

    async def report_block(self, session: Session, error: BaseException | None) -> None:
        """Report a block whose session has ended, before the connection is closed.

        :param error: the error that the block raises.
        """
        await self.report(session, failed=None if error is None else failed_by(error))
        end_block(session, error)
