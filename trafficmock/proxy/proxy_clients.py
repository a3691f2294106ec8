"""The proxy clients: to the coordinator, the forward proxy is one agent for each client id.

An attached Python process, which names itself, is an agent of its own, as a Node process is.
Each remembers the redirects of its requests, so that the request that follows one is linked to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from attrs import define, field
from msgspec import UNSET
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from trafficmock.http.backpressure import FlowControlled
from trafficmock.proxy.http1.attached_clients import AttachedProcess
from trafficmock.records import Record
from trafficmock.wire import PROTOCOL_VERSION, features, inbound, outbound
from trafficmock.wire.agent_filter import Origins
from trafficmock.wire.inbound import Message
from trafficmock.wire.local_reports import RunsTests
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.welcome import BodyLimits

IDLE_CLIENT_SECONDS = 30.0
"""How long a client id stays known without a connection: some clients open one per request."""

REDIRECT_SECONDS = 30.0
"""Within this time a request for the target of a redirect counts as following the redirect."""

MOST_IDLE_CLIENTS = 500
"""The most client ids that stay known without a connection."""

_NO_LIMITS = BodyLimits(history=0, handler=0)
_MOST_REDIRECTS = 1000
_LONGEST_REDIRECT = 4096
"""Characters of the longest URL that is remembered, so that all take a few MiB at most."""


class MessageReceiver(Protocol):
    """A request or WebSocket, which gets the coordinator's messages about it."""

    def on_message(self, message: Message) -> None:
        """Handle a message of the coordinator."""

    def crashed(self) -> None:
        """End the request or WebSocket, because the handling of a message raised an exception."""

    def stopped(self) -> None:
        """Answer a request that has no response yet, because the service stops."""


class TunnelJudge(Protocol):
    """Applies strict mode to tunnels, whose requests the proxy does not parse."""

    def would_refuse(self, proxy_client: ProxyClient, request: SerializedRequest) -> bool:
        """Return whether strict mode would refuse a tunnel; nothing is recorded.

        :param request: its CONNECT, with ``https://host:port/`` as its URL.
        """

    def may_be_mocked(self, proxy_client: ProxyClient, url: str) -> bool:
        """Return whether a route may match a URL of a server, or strict mode would refuse it.

        :param url: as of the request in :meth:`would_refuse`.
        """

    def watch(self, proxy_client: ProxyClient, url: str, end: Callable[[], None]) -> None:
        """Call ``end`` once :meth:`may_be_mocked` is true, unless :meth:`unwatch` is called."""

    def unwatch(self, end: Callable[[], None]) -> None:
        """Stop watching."""

    def refuse(
        self, proxy_client: ProxyClient, tunnel_id: str, request: SerializedRequest
    ) -> str | None:
        """Record the refusal of a tunnel, if strict mode refuses it.

        :returns: the reason, for people; ``None`` if the tunnel may be opened.
        """


class CoordinatorGateway(Protocol):
    """The calls of the driver (:mod:`trafficmock.server.driver`) that proxy clients use."""

    @property
    def tunnels(self) -> TunnelJudge:
        """Return the object that applies strict mode to tunnels."""

    def client_opened(self, proxy_client: ProxyClient, hello: inbound.Hello) -> None:
        """Register a proxy client with the core, which sets its id."""

    def client_sent(self, proxy_client: ProxyClient, message: Message) -> None:
        """Pass a message to the core, whose answers are delivered within this call or later."""

    def client_closed(self, proxy_client: ProxyClient) -> None:
        """Unregister a proxy client."""

    def is_reserved(self, context_id: str) -> bool:
        """Return whether a context belongs to a running test, or to one that ended just now."""

    def client_recorded(self, record: Record) -> None:
        """Write a record into the history that needs no decision of the core."""

    def socket_backlogged(self, socket: FlowControlled) -> None:
        """Pause the senders to a WebSocket, because its peer reads more slowly than they send."""

    def socket_drained(self, socket: FlowControlled) -> None:
        """Resume the senders that waited for a WebSocket."""

    def socket_gone(self, socket: FlowControlled) -> None:
        """Remove a WebSocket from backpressure, because it is closed."""


@define(eq=False)
class ProxyClient:
    """All connections to the forward proxy with one client id, or of one attached process.

    It is one agent of the coordinator.

    :param gateway: passes messages to the core.
    :param clock: monotonic seconds.
    :param process: the attached process; ``None`` for a client that says nothing of itself.
    :ivar wants_origins: whether the core wants to know where requests without a context come from.
    """

    log = Logger()
    peer = "the forward proxy"

    gateway: CoordinatorGateway
    client_id: str
    clock: IReactorTime
    process: AttachedProcess | None = None
    id: str = ""
    receivers: dict[str, MessageReceiver] = field(factory=dict)
    sockets: dict[str, FlowControlled] = field(factory=dict)
    connections: int = 0
    limits: BodyLimits = _NO_LIMITS
    wants_origins: bool = False
    _redirects: dict[tuple[str | None, str], tuple[str, float]] = field(factory=dict)

    @property
    def kind(self) -> str:
        """The way it is connected: ``python`` by the preload, else ``proxy``."""
        return "proxy" if self.process is None else "python"

    def deliver(self, message: Message) -> None:
        """Deliver a message of the core. Exceptions are logged, and end the request concerned."""
        try:
            if isinstance(message, inbound.Ping):
                self.send(inbound.Pong(message.at))
            elif isinstance(message, outbound.HelloOk):
                self.limits = message.body_limits or _NO_LIMITS
                self.wants_origins = message.origins is True
            elif isinstance(message, Origins):
                self.wants_origins = message.wanted
            else:
                self._dispatch(message)
        except Exception:  # noqa: BLE001 - the core must go on whatever a connection does
            self.log.failure("a client of the forward proxy failed")
            receiver = self._receiver(message)
            if receiver is not None:
                receiver.crashed()

    def send(self, message: Message) -> None:
        self.gateway.client_sent(self, message)

    def record(self, record: Record) -> None:
        """Write a record into the history that needs no decision of the core."""
        self.gateway.client_recorded(record)

    def socket(self, socket_id: str) -> FlowControlled | None:
        return self.sockets.get(socket_id)

    def _dispatch(self, message: Message) -> None:
        receiver = self._receiver(message)
        if receiver is not None:
            receiver.on_message(message)

    def _receiver(self, message: Any) -> MessageReceiver | None:
        key = getattr(message, "request_id", None) or getattr(message, "socket_id", None)
        return self.receivers.get(key) if key else None

    # Redirects

    def redirected(self, request_id: str, url: str, context_id: str | None) -> None:
        """Remember the target of a redirect.

        :param url: the target.
        :param context_id: the context of the request; the following request has the same.
        """
        if len(url) > _LONGEST_REDIRECT:
            return
        key = self._reserved(context_id), url
        self._redirects.pop(key, None)
        self._redirects[key] = request_id, self.clock.seconds() + REDIRECT_SECONDS
        if len(self._redirects) > _MOST_REDIRECTS:
            del self._redirects[next(iter(self._redirects))]

    def redirect_to(self, url: str, context_id: str | None) -> str | None:
        """Return the id of the request whose redirect led to ``url``; each redirect counts once.

        :param context_id: the context of the request for ``url``.
        :returns: ``None`` if there is none within :data:`REDIRECT_SECONDS`.
        """
        if not self._redirects:
            return None
        request_id, until = self._redirects.pop((self._reserved(context_id), url), ("", 0.0))
        return request_id if until > self.clock.seconds() else None

    def _reserved(self, context_id: str | None) -> str | None:
        """Return the context if a test has reserved it; ids of other traces differ per request."""
        if context_id is None or not self.gateway.is_reserved(context_id):
            return None
        return context_id


@define(eq=False, kw_only=True)
class ProxyClients:
    """The proxy clients by client id and process, which end some time after their last connection.

    :param gateway: passes messages to the core.
    :param version: the version of the service, for ``hello``.
    :param token: the token of the service, for ``hello``; ``None`` for none.
    """

    gateway: CoordinatorGateway
    clock: IReactorTime
    version: str
    token: str | None = field(repr=False)
    _proxy_clients: dict[tuple[str, AttachedProcess | None], ProxyClient] = field(factory=dict)
    _idle_clients: dict[ProxyClient, Any] = field(factory=dict)

    def enter(self, client_id: str, process: AttachedProcess | None = None) -> ProxyClient:
        """Return the proxy client of a client id, and count one more connection of it.

        :param process: the attached process that the connection is of, if there is one.
        """
        proxy_client = self._proxy_clients.get((client_id, process))
        if proxy_client is None:
            proxy_client = ProxyClient(self.gateway, client_id, self.clock, process)
            self._proxy_clients[client_id, process] = proxy_client
            self.gateway.client_opened(proxy_client, self._hello(client_id, process))
            if process is not None and process.runs_tests:
                proxy_client.send(RunsTests(running=True))
        elif (timer := self._idle_clients.pop(proxy_client, None)) is not None:
            timer.cancel()
        proxy_client.connections += 1
        return proxy_client

    def leave(self, proxy_client: ProxyClient) -> None:
        """Count one connection less of a proxy client."""
        proxy_client.connections -= 1
        if proxy_client.connections:
            return
        if len(self._idle_clients) >= MOST_IDLE_CLIENTS:
            self._close(next(iter(self._idle_clients)))
        self._idle_clients[proxy_client] = self.clock.callLater(
            IDLE_CLIENT_SECONDS, self._close, proxy_client
        )

    def stop(self) -> bool:
        """Answer the waiting requests, and close the proxy clients that have no connection.

        :returns: whether a client is still connected, to which responses may be on their way.
        """
        for proxy_client in list(self._idle_clients):
            self._close(proxy_client)
        for proxy_client in self._proxy_clients.values():
            for receiver in list(proxy_client.receivers.values()):
                receiver.stopped()
        return bool(self._proxy_clients)

    def _close(self, proxy_client: ProxyClient) -> None:
        timer = self._idle_clients.pop(proxy_client)
        if timer.active():
            timer.cancel()
        del self._proxy_clients[proxy_client.client_id, proxy_client.process]
        self.gateway.client_closed(proxy_client)

    def _hello(self, client_id: str, process: AttachedProcess | None) -> inbound.Hello:
        return inbound.Hello(
            protocol_version=PROTOCOL_VERSION,
            package_version=self.version,
            role="node",
            client_id=client_id,
            features=_features_of(process),
            pid=UNSET if process is None or process.pid is None else process.pid,
            command=UNSET if process is None else process.command,
            token=UNSET if self.token is None else self.token,
        )


def _features_of(process: AttachedProcess | None) -> list[str]:
    """Return the features of a proxy client.

    It has no copy of the routes: it asks the core about every request. Only an attached process
    whose server is known tells of contexts, and only one that reads contexts tells of origins.
    """
    lacks = {features.LOCAL}
    if process is None or not process.tells:
        lacks.add(features.SEEN_CONTEXTS)
    if process is None or not process.tells_origins:
        lacks.add(features.ORIGINS)
    return [each for each in features.OF_AGENTS if each not in lacks]
