"""The byte budget of the history: bounds bodies and frames, and drops the oldest first."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Protocol

from attrs import Factory, define

from trafficmock.wire.limits import or_unlimited


class Holder(Protocol):
    """An entry whose bodies or frames can be dropped."""

    def cut(self, part: object) -> None:
        """Drop ``part``, which this holder passed to the budget, and mark the JSON as truncated."""


@define(eq=False)
class ByteBudget:
    """The bodies and frames of both sets of rows, oldest first.

    :param limit: bytes in stored form (bodies that came in messages in base64); 0 is no limit. A
        single part above it is dropped at once.
    """

    limit: int
    used: int = 0
    _parts: OrderedDict[object, tuple[Holder, int]] = Factory(OrderedDict)

    def __attrs_post_init__(self) -> None:
        self.limit = or_unlimited(self.limit)

    def __len__(self) -> int:
        return len(self._parts)

    def hold(self, holder: Holder, part: object, size: int) -> None:
        """Add ``part``, and drop the oldest parts until the sum is within the limit.

        :param size: bytes in stored form.
        """
        if size > self.limit:
            holder.cut(part)
            return
        self._parts[part] = holder, size
        self.used += size
        while self.used > self.limit:
            oldest, (owner, freed) = self._parts.popitem(last=False)
            self.used -= freed
            owner.cut(oldest)

    def release(self, part: object) -> None:
        """Remove a part that was replaced or whose entry was removed; ignore an unknown one."""
        known = self._parts.pop(part, None)
        if known is not None:
            self.used -= known[1]

    def release_all(self, parts: Iterable[object]) -> None:
        """Remove the parts of a removed entry; ``None`` among them is ignored."""
        counted = self._parts
        for part in parts:
            if part in counted:
                self.used -= counted.pop(part)[1]
