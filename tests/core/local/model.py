"""A model of one agent, one route and one worker, in which everything that can happen does.

Time is discrete. Messages of a link arrive in order, and may be delayed at will, as by a blocked
event loop. Either side may be the first to notice that the link is lost. The violation that is
looked for: a request begins after the route was acknowledged, and the agent lets it pass.
"""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from attrs import frozen

LEASE = 2
"""Ticks that a lease lasts."""

FOR_EVER = 1000
"""More ticks than any exploration has."""


@frozen(kw_only=True)
class Rules:
    """The rules of the design; a variant leaves one out.

    :param acknowledges: an acknowledgement of the route waits for that of the agent.
    :param leases: the agent decides only while it has a lease, and is waited for no longer.
    :param gives_up_after: ticks after which the agent is waited for no longer, lease or not.
    :param remembers_lost: an agent whose link is lost is waited for.
    :param counts_from_sending: a lease counts from when the question was sent, not from
        when the answer came.
    """

    acknowledges: bool = True
    leases: bool = True
    gives_up_after: int | None = None
    remembers_lost: bool = True
    counts_from_sending: bool = True


@frozen(kw_only=True)
class Bounds:
    """How far is explored: ticks, messages on their way in one direction, and lost links."""

    ticks: int
    queue: int
    losses: int


class State(NamedTuple):
    """Both sides and the link between them.

    To the agent go filters and answers, to the coordinator questions and acknowledgements: a
    ``filter`` and an ``ack`` say whether the route is in it, the others when was asked.

    :param has_entry: the agent's filter has the route.
    :param may_until: of the agent: the end of its lease.
    :param bound: of the coordinator: when that is surely over.
    :param waits_until: when the acknowledgement of the route waits no longer.
    :param returned: the route is acknowledged.
    """

    now: int = 0
    agent_up: bool = True
    has_filter: bool = False
    has_entry: bool = False
    may_until: int = 0
    linked: bool = True
    registered: bool = False
    acknowledged: bool = False
    bound: int = 0
    waits_until: int | None = None
    returned: bool = False
    to_agent: tuple[tuple[str, int], ...] = (("filter", 0),)
    to_coordinator: tuple[tuple[str, int], ...] = ()
    losses: int = 0


def explore(rules: Rules, bounds: Bounds) -> tuple[int, list[State] | None]:
    """Go through all states that can be reached.

    :returns: how many there are, and the states that lead to a violation, if one was found.
    """
    start = State()
    before: dict[State, State | None] = {start: None}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        if state.returned and _decides(state, rules):
            return len(before), _trail(state, before)
        for following in _steps(state, rules, bounds):
            if following not in before:
                before[following] = state
                waiting.append(following)
    return len(before), None


def _trail(state: State, before: dict[State, State | None]) -> list[State]:
    trail = [state]
    while (earlier := before[trail[-1]]) is not None:
        trail.append(earlier)
    return trail[::-1]


def _decides(state: State, rules: Rules) -> bool:
    """Tell whether a request that begins now passes without a question."""
    ready = state.agent_up and state.has_filter and not state.has_entry
    return ready and (state.now < state.may_until or not rules.leases)


def _steps(state: State, rules: Rules, bounds: Bounds) -> Iterator[State]:
    if state.now < bounds.ticks:
        yield _tick(state)
    asks = state.agent_up and not _decides(state, rules)
    if asks and len(state.to_coordinator) < bounds.queue:
        yield _says(state, "question", state.now)
    if not state.registered and len(state.to_agent) <= bounds.queue:
        yield _register(state, rules)
    if state.to_agent and state.agent_up:
        yield _agent_hears(state, rules)
    if state.to_coordinator and state.linked:
        yield from _coordinator_hears(state, bounds)
    yield from _losses(state, bounds)


def _tick(state: State) -> State:
    now = state.now + 1
    over = state.waits_until is not None and now >= state.waits_until
    return state._replace(now=now, returned=state.returned or over)


def _says(state: State, what: str, value: int) -> State:
    return state._replace(to_coordinator=(*state.to_coordinator, (what, value)))


def _tells(state: State, what: str, value: int) -> State:
    return state._replace(to_agent=(*state.to_agent, (what, value)))


def _register(state: State, rules: Rules) -> State:
    """Take the route, tell the agent, and say until when that is waited for."""
    state = state._replace(registered=True)
    if not rules.acknowledges or (state.linked and state.acknowledged):
        return state._replace(returned=True)
    until = state.bound if state.linked or rules.remembers_lost else 0
    if not rules.leases:
        until = FOR_EVER if state.linked else 0
    if rules.gives_up_after is not None:
        until = state.now + rules.gives_up_after
    if state.linked:
        state = _tells(state, "filter", 1)
    return state._replace(waits_until=until, returned=state.now >= until)


def _agent_hears(state: State, rules: Rules) -> State:
    (what, value), *rest = state.to_agent
    state = state._replace(to_agent=tuple(rest))
    if what == "answer":
        since = value if rules.counts_from_sending else state.now
        return state._replace(may_until=max(state.may_until, since + LEASE))
    return _says(state._replace(has_filter=True, has_entry=bool(value)), "ack", value)


def _coordinator_hears(state: State, bounds: Bounds) -> Iterator[State]:
    (what, value), *rest = state.to_coordinator
    heard = state._replace(to_coordinator=tuple(rest))
    if what == "ack":
        done = bool(value) and state.registered
        yield heard._replace(acknowledged=bool(value), returned=state.returned or done)
    elif len(state.to_agent) <= bounds.queue:
        yield _tells(heard, "answer", value)._replace(bound=state.now + LEASE)


def _losses(state: State, bounds: Bounds) -> Iterator[State]:
    """Lose the link, on one side first, and connect again when both have noticed."""
    if state.linked and state.losses < bounds.losses:
        yield state._replace(
            linked=False, acknowledged=False, to_coordinator=(), losses=state.losses + 1
        )
    if state.agent_up and state.losses < bounds.losses and state.linked:
        down = state._replace(agent_up=False, has_filter=False, has_entry=False, may_until=0)
        yield down._replace(to_agent=(), losses=state.losses + 1)
    if state.agent_up and not state.linked:
        down = state._replace(agent_up=False, has_filter=False, has_entry=False, may_until=0)
        yield down._replace(to_agent=())
    if not state.agent_up and state.linked:
        yield state._replace(linked=False, acknowledged=False, to_coordinator=())
    if not state.agent_up and not state.linked:
        fresh = (("filter", int(state.registered)),)
        yield state._replace(agent_up=True, linked=True, to_agent=fresh, to_coordinator=())


WEAKENED = {
    "no acknowledgement": Rules(acknowledges=False),
    "an acknowledgement without a lease": Rules(leases=False),
    "a time limit in place of a lease": Rules(leases=False, gives_up_after=2),
    "a lost link counts as gone": Rules(remembers_lost=False),
    "a lease that counts from the answer": Rules(counts_from_sending=False),
}
"""Variants of the design with a rule left out."""
