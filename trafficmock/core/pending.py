"""A request that is paused in the application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.core.lifecycle import RequestStage, request_step

if TYPE_CHECKING:
    from trafficmock.core.claims import Claim
    from trafficmock.core.parties import Agent
    from trafficmock.core.records import Owner
    from trafficmock.core.registry import Test
    from trafficmock.wire.request import Request


@define(eq=False, kw_only=True)
class PendingRequest:
    """What is known of a paused request.

    :param observers: the connections that were told of it, and are told of its end.
    :param routes: the ids of the owner's routes that match it.
    :param fetches: the ids of the fetches that are under way for it.
    """

    id: str
    client_id: str
    request: Request
    agent: Agent
    observers: tuple[str, ...]
    stage: RequestStage = RequestStage.OBSERVED
    claim: Claim | None = None
    test: Test | None = None
    owner: Owner | None = None
    routes: tuple[str, ...] = ()
    fetches: set[str] = field(factory=set)

    def __str__(self) -> str:
        return f"{self.request.method} {self.request.url}"

    def step(self, stage: RequestStage) -> None:
        """Go on to ``stage``, if the table has that step."""
        self.stage = request_step(self.stage, stage)
