"""The forward proxy as the coordinator sees it: one agent for each client id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from attrs import Factory, define, field
from twisted.logger import Logger

from trafficmock.proxy.transfer.body_decoding import Decoders
from trafficmock.wire import PROTOCOL_VERSION, inbound, outbound

if TYPE_CHECKING:
    from twisted.internet.interfaces import IReactorTime

    from trafficmock.http.backpressure import Paced
    from trafficmock.records import Record
    from trafficmock.wire.inbound import Message
    from trafficmock.wire.outbound import BodyLimits

LINGER_SECONDS = 30.0
"""How long a client id stays connected without a connection: some open one a request."""

REDIRECT_SECONDS = 30.0
"""How long a client may take to come to where it was redirected, to count as following."""

MOST_LINGERING = 500
"""Client ids that stay though they have no connection."""

_MOST_REDIRECTS = 1000
_LONGEST_REDIRECT = 4096
"""Characters of a URL that is remembered, so that all of them take some MiB at most."""


class Subject(Protocol):
    """A request or WebSocket that waits for what the coordinator says about it."""

    def told(self, message: Message) -> None:
        """Act on a message about it."""

    def crashed(self) -> None:
        """End it somehow: acting on a message failed."""

    def stopped(self) -> None:
        """Answer, if nothing was answered: the service stops."""


class Coordination(Protocol):
    """What the party needs of the driver."""

    def party_opened(self, party: Party, hello: inbound.Hello) -> None:
        """Introduce a party to the core, which gives it an id."""

    def party_said(self, party: Party, message: Message) -> None:
        """Hand a message to the core; what follows from it may happen at once or later."""

    def party_closed(self, party: Party) -> None:
        """Tell the core that a party is gone."""

    def party_recorded(self, record: Record) -> None:
        """Write into the history what the core has nothing to decide about."""

    def socket_backlogged(self, socket: Paced) -> None:
        """Remember that a WebSocket takes less than it is sent."""

    def socket_drained(self, socket: Paced) -> None:
        """Let those who waited for a WebSocket go on."""

    def socket_gone(self, socket: Paced) -> None:
        """Forget a WebSocket."""


@define(eq=False)
class Party:
    """Everything that came through the forward proxy under one client id.

    :param coordination: the way to the core.
    :param client_id: its name.
    :param clock: monotonic seconds.
    :param decoders: decode the bodies that it reports.
    """

    log = Logger()
    kind = "proxy"
    peer = "the forward proxy"

    coordination: Coordination
    client_id: str
    clock: IReactorTime
    decoders: Decoders
    id: str = ""
    subjects: dict[str, Subject] = field(factory=dict)
    sockets: dict[str, Paced] = field(factory=dict)
    connections: int = 0
    limits: BodyLimits | None = None
    _redirects: dict[str, tuple[str, float]] = field(factory=dict)

    def deliver(self, message: Message) -> None:
        """Take a message of the core; nothing is raised."""
        try:
            if isinstance(message, inbound.Ping):
                self.say(inbound.Pong(message.at))
            elif isinstance(message, outbound.HelloOk):
                self.limits = message.body_limits or None
            else:
                self._tell_subject(message)
        except Exception:  # noqa: BLE001 - the core must go on whatever a connection does
            self.log.failure("a client of the forward proxy failed")
            subject = self._subject(message)
            if subject is not None:
                subject.crashed()

    def say(self, message: Message) -> None:
        """Tell the core something."""
        self.coordination.party_said(self, message)

    def record(self, record: Record) -> None:
        """Have something in the history that the core has nothing to decide about."""
        self.coordination.party_recorded(record)

    def socket(self, socket_id: str) -> Paced | None:
        """Give one of its WebSockets."""
        return self.sockets.get(socket_id)

    def _tell_subject(self, message: Message) -> None:
        subject = self._subject(message)
        if subject is not None:
            subject.told(message)

    def _subject(self, message: Any) -> Subject | None:
        key = getattr(message, "request_id", None) or getattr(message, "socket_id", None)
        return self.subjects.get(key) if key else None

    # Redirects

    def redirected(self, request_id: str, url: str) -> None:
        """Remember where a request was redirected to."""
        if len(url) > _LONGEST_REDIRECT:
            return
        self._redirects.pop(url, None)
        self._redirects[url] = request_id, self.clock.seconds() + REDIRECT_SECONDS
        if len(self._redirects) > _MOST_REDIRECTS:
            del self._redirects[next(iter(self._redirects))]

    def redirect_to(self, url: str) -> str | None:
        """Name the request whose redirect is followed by one to ``url``; each counts once."""
        if not self._redirects:
            return None
        request_id, until = self._redirects.pop(url, ("", 0.0))
        return request_id if until > self.clock.seconds() else None


@define(eq=False, kw_only=True)
class Parties:
    """The parties by client id, as long as they have connections and a moment longer.

    :param coordination: the way to the core.
    :param hello: makes what a party says first.
    """

    coordination: Coordination
    clock: IReactorTime
    version: str
    token: str | None
    _decoders: Decoders = field(
        init=False, default=Factory(lambda self: Decoders(self.clock), takes_self=True)
    )
    _parties: dict[str, Party] = field(factory=dict)
    _lingering: dict[Party, Any] = field(factory=dict)

    def enter(self, client_id: str) -> Party:
        """Give the party of a client id, with one connection more."""
        party = self._parties.get(client_id)
        if party is None:
            party = Party(self.coordination, client_id, self.clock, self._decoders)
            self._parties[client_id] = party
            self.coordination.party_opened(party, self._hello(client_id))
        elif (timer := self._lingering.pop(party, None)) is not None:
            timer.cancel()
        party.connections += 1
        return party

    def leave(self, party: Party) -> None:
        """Take note that a connection of a party ended."""
        party.connections -= 1
        if party.connections:
            return
        if len(self._lingering) >= MOST_LINGERING:
            self._close(next(iter(self._lingering)))
        self._lingering[party] = self.clock.callLater(LINGER_SECONDS, self._close, party)

    def stop(self) -> bool:
        """Answer who waits, and let everybody go who has no connection.

        :returns: whether somebody has one, to whom answers may be on their way.
        """
        self._decoders.stop()
        for party in list(self._lingering):
            self._close(party)
        for party in self._parties.values():
            for subject in list(party.subjects.values()):
                subject.stopped()
        return bool(self._parties)

    def _close(self, party: Party) -> None:
        timer = self._lingering.pop(party)
        if timer.active():
            timer.cancel()
        del self._parties[party.client_id]
        self.coordination.party_closed(party)

    def _hello(self, client_id: str) -> inbound.Hello:
        return inbound.Hello(
            protocol_version=PROTOCOL_VERSION,
            package_version=self.version,
            role="node",
            client_id=client_id,
            features=["headers-list", "stream"],
            **({} if self.token is None else {"token": self.token}),
        )
