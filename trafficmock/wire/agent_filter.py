"""The messages that tell agents what to ask about (feature ``local``)."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from trafficmock.wire.inbound import Message


class FilterEntry(Struct, frozen=True, omit_defaults=True):
    """What requests have that a route or a strict test may want; one key.

    :param texts: what a URL begins with, has in it, and ends with, each of them possibly empty;
        one text alone is the whole URL.
    :param all: any request is meant.
    :param context: requests that carry it are meant.
    """

    texts: tuple[str, ...] | UnsetType = UNSET
    all: Literal[True] | UnsetType = UNSET
    context: str | UnsetType = UNSET


Reports = Literal["now", "batch", "none"]
"""How an agent tells of requests that it lets pass: each at once, in batches, or not at all."""


class FilterSet(Message, frozen=True, tag="filter:set"):
    """Ask about what has one of these entries, and about nothing else.

    :param n: for ``filter:ack``.
    :param batch_bytes: the longest message that the agent may send.
    """

    n: int
    entries: list[FilterEntry]
    reports: Reports
    batch_bytes: int


class FilterAdd(Message, frozen=True, tag="filter:add"):
    """Ask about what has one of these entries too."""

    n: int
    entries: list[FilterEntry]


class FilterDrop(Message, frozen=True, tag="filter:drop"):
    """Ask about these entries no more."""

    entries: list[FilterEntry]


class Sync(Message, frozen=True, tag="sync"):
    """Report what was decided until now, then answer."""

    n: int
    reports: Reports
