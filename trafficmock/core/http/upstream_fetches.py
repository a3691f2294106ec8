"""Fetches, by which agents get the real server's answer to a request that stays paused."""

from __future__ import annotations

from msgspec import UNSET

from trafficmock.core.answers import response_rules
from trafficmock.core.effects import EffectList
from trafficmock.core.state.lifecycle import PendingRequest
from trafficmock.core.state.peers import Agent, FetchReceiver
from trafficmock.wire.outbound import DecisionFetch, FetchDone
from trafficmock.wire.payloads.answer import Fetch
from trafficmock.wire.payloads.serialized_response import SerializedError


def begin(pending: PendingRequest, action: Fetch, receiver: FetchReceiver, out: EffectList) -> bool:
    """Have the agent of a request fetch.

    :param receiver: is called with the answer, also after the request was settled.
    :returns: ``False`` if a fetch of the request has this id.
    """
    agent, key = pending.agent, (pending.id, action.fetch_id)
    if key in agent.fetches:
        return False
    agent.fetches[key] = receiver
    pending.fetches.add(action.fetch_id)
    sent = action.overrides
    question = DecisionFetch(
        pending.id,
        action.fetch_id,
        UNSET if sent is UNSET else response_rules.overrides_for(sent, agent.features),
        action.max_redirects,
        action.max_retries,
    )
    out.send(agent.id, question)
    return True


def take(agent: Agent, request_id: str, fetch_id: str) -> FetchReceiver | None:
    """End a fetch; return who gets its answer, ``None`` if it had ended before."""
    pending = agent.pending.get(request_id)
    if pending is not None:
        pending.fetches.discard(fetch_id)
    return agent.fetches.pop((request_id, fetch_id), None)


def fail(
    agent: Agent, request_id: str, fetch_id: str, error: SerializedError, out: EffectList
) -> None:
    """End a fetch by an error."""
    receiver = take(agent, request_id, fetch_id)
    if receiver is not None:
        receiver(FetchDone(request_id, fetch_id, ok=False, error=error), out)
