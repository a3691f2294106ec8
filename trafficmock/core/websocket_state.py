"""A WebSocket of an application, from its opening to both its closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import define, field
from msgspec import UNSET

from trafficmock import records
from trafficmock.core.lifecycle import SocketStage, socket_step
from trafficmock.wire import inbound

if TYPE_CHECKING:
    from trafficmock.core.claims import Claim
    from trafficmock.core.effects import Effects
    from trafficmock.core.peers import Agent
    from trafficmock.core.registry import RegisteredTest

Close = inbound.ClosePage | inbound.CloseServer
Side = Literal["page", "server"]


@define(eq=False, kw_only=True)
class Socket:
    """What is known of a WebSocket that is held or matched.

    :param connected: the handler asked for the real upstream.
    :param closed: the sides whose close was recorded.
    :param early: closes that came before there was an owner to tell, and when.
    """

    id: str
    client_id: str
    url: str
    protocols: list[str]
    agent: Agent
    stage: SocketStage = SocketStage.HELD
    claim: Claim | None = None
    test: RegisteredTest | None = None
    owner: records.Owner | None = None
    connected: bool = False
    closed: set[Side] = field(factory=set)
    early: dict[type, tuple[Close, float]] = field(factory=dict)

    def __str__(self) -> str:
        return f"the WebSocket {self.url}"

    def step(self, stage: SocketStage) -> None:
        """Go on to ``stage``, if the table has that step."""
        self.stage = socket_step(self.stage, stage)

    def record_close(self, message: Close, out: Effects) -> None:
        """Record that a side closed, once for each side."""
        side: Side = "page" if isinstance(message, inbound.ClosePage) else "server"
        if side in self.closed:
            return
        self.closed.add(side)
        code = message.code if message.code is not UNSET else None
        reason = message.reason if message.reason is not UNSET else None
        out.append(records.SocketClosed(self.id, side, code, reason, message.was_clean))

    def closes(self, code: int, reason: str, *, was_clean: bool) -> list[Close]:
        """Write the close of the page's side and, where there is one, of the server's."""
        closes: list[Close] = []
        if "page" not in self.closed:
            closes.append(inbound.ClosePage(self.id, was_clean, code, reason))
        if self.connected and "server" not in self.closed:
            closes.append(inbound.CloseServer(self.id, was_clean, code, reason))
        return closes
