"""The messages that tell agents what to ask about, and what to find out.

With the feature ``local`` an agent has a filter: it asks the coordinator about the requests that an
entry of the filter matches. It lets all others pass and reports them (``local_reports``).
"""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from trafficmock.wire.inbound import Message


class FilterEntry(Struct, frozen=True, omit_defaults=True):
    """A condition on requests; exactly one of the keys is set.

    :param texts: the URL begins with the first text, ends with the last one and contains the
        others, in any order; each may be empty. A single text is the whole URL.
    :param all: every request matches.
    :param context: requests with this context match.
    """

    texts: tuple[str, ...] | UnsetType = UNSET
    all: Literal[True] | UnsetType = UNSET
    context: str | UnsetType = UNSET


Reports = Literal["now", "batch", "none"]
"""How an agent reports the requests that it lets pass: each at once, in batches, or not at all."""


class Origins(Message, frozen=True, tag="origins"):
    """Whether the agent tells where requests without a context come from (feature ``origins``).

    :param wanted: whether tests with contexts run, so that somebody may read it.
    :param of_all: whether it also tells where requests with a context come from.
    """

    wanted: bool
    of_all: Literal[True] | UnsetType = UNSET


class FilterSet(Message, frozen=True, tag="filter:set"):
    """The whole filter of an agent, in place of the one before.

    :param n: a number that grows; the agent repeats it in ``filter:ack``.
    :param batch_bytes: the most bytes of a message from the agent.
    """

    n: int
    entries: list[FilterEntry]
    reports: Reports
    batch_bytes: int


class FilterAdd(Message, frozen=True, tag="filter:add"):
    """Further entries of the filter; ``n`` as in :class:`FilterSet`."""

    n: int
    entries: list[FilterEntry]


class FilterDrop(Message, frozen=True, tag="filter:drop"):
    """Entries that the filter no longer has."""

    entries: list[FilterEntry]


class Sync(Message, frozen=True, tag="sync"):
    """The agent must report all requests that it has let pass, then answer with ``synced``."""

    n: int
    reports: Reports
