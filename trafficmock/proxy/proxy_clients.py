"""The forward proxy as the coordinator sees it: one agent for each client id.

Each remembers where its requests were redirected to, so that the next request is linked to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from attrs import Factory, define, field
from twisted.logger import Logger

from trafficmock.proxy.transfer.body_decoding import Decoders
from trafficmock.wire import PROTOCOL_VERSION, features, inbound, outbound

if TYPE_CHECKING:
    from twisted.internet.interfaces import IReactorTime

    from trafficmock.http.backpressure import FlowControlled
    from trafficmock.records import Record
    from trafficmock.wire.inbound import Message
    from trafficmock.wire.outbound import BodyLimits
    from trafficmock.wire.payloads.serialized_request import SerializedRequest

IDLE_CLIENT_SECONDS = 30.0
"""How long a client id stays connected without a connection: some open one a request."""

REDIRECT_SECONDS = 30.0
"""How long a client may take to come to where it was redirected, to count as following."""

MOST_IDLE_CLIENTS = 500
"""Client ids that stay though they have no connection."""

_MOST_REDIRECTS = 1000
_LONGEST_REDIRECT = 4096
"""Characters of a URL that is remembered, so that all of them take some MiB at most."""


class MessageReceiver(Protocol):
    """A request or WebSocket that waits for what the coordinator says about it."""

    def on_message(self, message: Message) -> None:
        """Handle a message of the coordinator about it."""

    def crashed(self) -> None:
        """End it, because the handling of a message failed."""

    def stopped(self) -> None:
        """Answer, if nothing was answered: the service stops."""


class TunnelJudge(Protocol):
    """Judges the tunnels that are not read."""

    def would_refuse(self, proxy_client: ProxyClient, request: SerializedRequest) -> bool:
        """Tell whether strict mode would refuse a tunnel.

        :param request: its CONNECT, with ``https://host:port/`` as its URL.
        """

    def refuse(
        self, proxy_client: ProxyClient, tunnel_id: str, request: SerializedRequest
    ) -> str | None:
        """Refuse a tunnel where strict mode does, and record that.

        :returns: why; ``None`` where it may be opened.
        """


class CoordinatorGateway(Protocol):
    """The calls of the driver that proxy clients use."""

    @property
    def tunnels(self) -> TunnelJudge:
        """Give the judge of tunnels that are not read."""

    def client_opened(self, proxy_client: ProxyClient, hello: inbound.Hello) -> None:
        """Introduce a proxy client to the core, which gives it an id."""

    def client_sent(self, proxy_client: ProxyClient, message: Message) -> None:
        """Hand a message to the core; what follows from it may happen at once or later."""

    def client_closed(self, proxy_client: ProxyClient) -> None:
        """Tell the core that a proxy client is gone."""

    def is_reserved(self, context_id: str) -> bool:
        """Tell whether a test has this context, or had it just now."""

    def client_recorded(self, record: Record) -> None:
        """Write into the history what the core has nothing to decide about."""

    def socket_backlogged(self, socket: FlowControlled) -> None:
        """Remember that a WebSocket takes less than it is sent."""

    def socket_drained(self, socket: FlowControlled) -> None:
        """Resume the senders that waited for a WebSocket."""

    def socket_gone(self, socket: FlowControlled) -> None:
        """Forget a WebSocket."""


@define(eq=False)
class ProxyClient:
    """Everything that came through the forward proxy under one client id.

    :param gateway: the way to the core.
    :param client_id: its name.
    :param clock: monotonic seconds.
    :param decoders: decode the bodies that it reports.
    """

    log = Logger()
    kind = "proxy"
    peer = "the forward proxy"

    gateway: CoordinatorGateway
    client_id: str
    clock: IReactorTime
    decoders: Decoders
    id: str = ""
    receivers: dict[str, MessageReceiver] = field(factory=dict)
    sockets: dict[str, FlowControlled] = field(factory=dict)
    connections: int = 0
    limits: BodyLimits | None = None
    _redirects: dict[tuple[str | None, str], tuple[str, float]] = field(factory=dict)

    def deliver(self, message: Message) -> None:
        """Deliver a message of the core; it raises nothing."""
        try:
            if isinstance(message, inbound.Ping):
                self.send(inbound.Pong(message.at))
            elif isinstance(message, outbound.HelloOk):
                self.limits = message.body_limits or None
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
        """Have something in the history that the core has nothing to decide about."""
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
        """Remember where a request was redirected to.

        :param context_id: that the request carries, and the one which follows will.
        """
        if len(url) > _LONGEST_REDIRECT:
            return
        key = self._reserved(context_id), url
        self._redirects.pop(key, None)
        self._redirects[key] = request_id, self.clock.seconds() + REDIRECT_SECONDS
        if len(self._redirects) > _MOST_REDIRECTS:
            del self._redirects[next(iter(self._redirects))]

    def redirect_to(self, url: str, context_id: str | None) -> str | None:
        """Name the request whose redirect is followed by one to ``url``; each counts once.

        :param context_id: that the one to ``url`` carries.
        """
        if not self._redirects:
            return None
        request_id, until = self._redirects.pop((self._reserved(context_id), url), ("", 0.0))
        return request_id if until > self.clock.seconds() else None

    def _reserved(self, context_id: str | None) -> str | None:
        """Give a context that a test has reserved: others, such as ids of traces, come and go."""
        if context_id is None or not self.gateway.is_reserved(context_id):
            return None
        return context_id


@define(eq=False, kw_only=True)
class ProxyClients:
    """The proxy clients by client id, as long as they have connections and a moment longer.

    :param gateway: the way to the core.
    :param hello: makes what a proxy client says first.
    """

    gateway: CoordinatorGateway
    clock: IReactorTime
    version: str
    token: str | None
    _decoders: Decoders = field(
        init=False, default=Factory(lambda self: Decoders(self.clock), takes_self=True)
    )
    _proxy_clients: dict[str, ProxyClient] = field(factory=dict)
    _idle_clients: dict[ProxyClient, Any] = field(factory=dict)

    def enter(self, client_id: str) -> ProxyClient:
        """Give the proxy client of a client id, with one connection more."""
        proxy_client = self._proxy_clients.get(client_id)
        if proxy_client is None:
            proxy_client = ProxyClient(self.gateway, client_id, self.clock, self._decoders)
            self._proxy_clients[client_id] = proxy_client
            self.gateway.client_opened(proxy_client, self._hello(client_id))
        elif (timer := self._idle_clients.pop(proxy_client, None)) is not None:
            timer.cancel()
        proxy_client.connections += 1
        return proxy_client

    def leave(self, proxy_client: ProxyClient) -> None:
        """Take note that a connection of a proxy client ended."""
        proxy_client.connections -= 1
        if proxy_client.connections:
            return
        if len(self._idle_clients) >= MOST_IDLE_CLIENTS:
            self._close(next(iter(self._idle_clients)))
        self._idle_clients[proxy_client] = self.clock.callLater(
            IDLE_CLIENT_SECONDS, self._close, proxy_client
        )

    def stop(self) -> bool:
        """Answer the requests that wait, and close each client that has no connection.

        :returns: whether a client is still connected: answers to it may be on their way.
        """
        self._decoders.stop()
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
        del self._proxy_clients[proxy_client.client_id]
        self.gateway.client_closed(proxy_client)

    def _hello(self, client_id: str) -> inbound.Hello:
        return inbound.Hello(
            protocol_version=PROTOCOL_VERSION,
            package_version=self.version,
            role="node",
            client_id=client_id,
            # It keeps no filter of what routes may match: it asks about every request.
            features=[each for each in features.OF_AGENTS if each != features.LOCAL],
            **({} if self.token is None else {"token": self.token}),
        )
