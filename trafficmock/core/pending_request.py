"""A request that is paused in the application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.core.lifecycle import RequestStage, request_step

if TYPE_CHECKING:
    from trafficmock.core.claims import Claim
    from trafficmock.core.deferred_observation import Untold
    from trafficmock.core.effects import Effects
    from trafficmock.core.peers import Agent
    from trafficmock.core.registry import RegisteredTest
    from trafficmock.records import Owner
    from trafficmock.wire.inbound import RequestBody
    from trafficmock.wire.serialized_request import SerializedRequest


@define(eq=False, kw_only=True)
class PendingRequest:
    """What is known of a paused request.

    :param announced_at: monotonic seconds.
    :param observers: the connections that were told of it, and are told of its end.
    :param owner_id: the connection of an owner that hears how it ended though it may not
        observe (feature ``subscribe``).
    :param routes: the ids of the owner's routes that match it.
    :param untold: what the observers will be told when the body is there; ``None`` when they were.
    :param fetches: the ids of the fetches that are under way for it.
    """

    id: str
    client_id: str
    request: SerializedRequest
    agent: Agent
    announced_at: float
    observers: tuple[str, ...]
    stage: RequestStage = RequestStage.OBSERVED
    claim: Claim | None = None
    test: RegisteredTest | None = None
    owner: Owner | None = None
    owner_id: str | None = None
    routes: tuple[str, ...] = ()
    untold: Untold | None = None
    fetches: set[str] = field(factory=set)

    def __str__(self) -> str:
        return f"{self.request.method} {self.request.url}"

    def tell(self, out: Effects, content: RequestBody | None = None) -> None:
        """Tell the observers of it now, if they do not know.

        :param content: its body; without it there will be none.
        """
        if self.untold is not None:
            self.request = self.untold.tell(self.id, content, self.observers, out)
            self.untold = None

    def step(self, stage: RequestStage) -> None:
        """Go on to ``stage``, if the table has that step."""
        self.stage = request_step(self.stage, stage)
