"""What a reader of the history asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen
from msgspec import UNSET

if TYPE_CHECKING:
    from trafficmock.history.entry import HistoryEntry


def _stripped(text: str) -> str:
    return text.strip()


@frozen(kw_only=True)
class Query:
    """Which entries, and which part of the list.

    :param q: text to search for; blanks around it do not count, nothing is no search.
    :param from_: earliest timestamp, epoch ms, inclusive.
    :param to: latest timestamp, epoch ms, inclusive.
    :param test_id: exact test id; the empty string is an id that nobody has.
    :param client_id: exact client id.
    :param action: exact action of a request, or outcome of a WebSocket.
    :param method: exact HTTP method.
    :param status: the statuses of the response that count.
    :param unowned: only what no test owns, and what carries no test's context.
    :param late: only what carries the context of a test that had ended.
    :param after: only what changed after this revision of the list.
    :param limit: how many at most; ``None`` is no limit.
    :param offset: how many of the first to skip.
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
        """How far into the list the asked part reaches; ``None`` is to its end."""
        return None if self.limit is None else self.offset + self.limit

    def accepts(self, entry: HistoryEntry[Any]) -> bool:
        """Tell whether the exact filters let ``entry`` through; ``q`` is not looked at."""
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
