"""How many bytes of bodies and frames are kept, and which go first."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Protocol

from attrs import Factory, define

from trafficmock.wire.limits import or_unlimited


class Holder(Protocol):
    """An entry whose bodies or frames can be dropped."""

    def cut(self, part: object) -> None:
        """Drop ``part``, which this holder gave to the budget, and say so in the JSON."""


@define(eq=False)
class ByteBudget:
    """Bodies and frames of both sets of rows, oldest first.

    :param limit: bytes as stored; 0 is no limit. A single part above it is not kept at all.
    """

    limit: int
    used: int = 0
    _parts: OrderedDict[object, tuple[Holder, int]] = Factory(OrderedDict)

    def __attrs_post_init__(self) -> None:
        self.limit = or_unlimited(self.limit)

    def __len__(self) -> int:
        return len(self._parts)

    def hold(self, holder: Holder, part: object, size: int) -> None:
        """Keep ``part``, and drop older ones until all fit again."""
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
        """Forget ``part``: its entry is gone, or it was replaced. Unknown parts are fine."""
        held = self._parts.pop(part, None)
        if held is not None:
            self.used -= held[1]

    def release_all(self, parts: Iterable[object]) -> None:
        """Forget the parts of an entry that is gone; ``None`` is none."""
        held = self._parts
        for part in parts:
            if part in held:
                self.used -= held.pop(part)[1]

    def recount(self) -> int:
        """Add up what is held, to check ``used``."""
        return sum(size for _, size in self._parts.values())
