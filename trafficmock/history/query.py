"""A query on the history: filters, a text to search for, and a part of the result."""

from __future__ import annotations

from typing import Any

from attrs import field, frozen
from msgspec import UNSET

from trafficmock.history.entry import HistoryEntry


def _stripped(text: str) -> str:
    return text.strip()


@frozen(kw_only=True)
class Query:
    """The filters of a query, and the part of the result.

    :param q: text to search for, stripped of whitespace; empty for no search.
    :param from_: earliest timestamp, epoch ms, inclusive.
    :param to: latest timestamp, epoch ms, inclusive.
    :param test_id: exact test id; the empty string matches no entry.
    :param client_id: exact client id.
    :param action: exact action of a request, or outcome of a WebSocket.
    :param method: exact HTTP method.
    :param status: the statuses of the response, as a range.
    :param unowned: only entries that no test owns and that carry no test's context.
    :param late: only entries that carry the context of a test that had ended.
    :param after: only entries that changed after this revision of the list.
    :param limit: the most entries; ``None`` is no limit.
    :param offset: the number of entries to skip.
    """

    q: str = field(default="", converter=_stripped)
    from_: float | None = None
    to: float | None = None
    test_id: str | None = None
    client_id: str | None = None
    action: str | None = None
    method: str | None = None
    status: range | None = None
    unowned: bool = False
    late: bool = False
    after: int = -1
    limit: int | None = None
    offset: int = 0

    @property
    def end(self) -> int | None:
        """The position after the requested part of the result; ``None`` for its end."""
        return None if self.limit is None else self.offset + self.limit

    def accepts(self, entry: HistoryEntry[Any]) -> bool:
        """Return whether the exact filters accept ``entry``; ``q`` is not compared."""
        return (
            (self.from_ is None or entry.timestamp >= self.from_)
            and (self.to is None or entry.timestamp <= self.to)
            and (self.test_id is None or entry.test_id == self.test_id)
            and (self.client_id is None or entry.client_id == self.client_id)
            and (self.action is None or entry.action == self.action)
            and (self.method is None or entry.method == self.method)
            and (self.status is None or entry.status in self.status)
            and (not self.unowned or entry.test_id is UNSET)
            and (not self.late or entry.late)
            and entry.revision > self.after
        )
