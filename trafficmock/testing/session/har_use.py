"""The entries of a HAR that a test has used."""

from attrs import define, field


@define
class HarUse:
    """What a test has used of one HAR.

    :ivar entries: the number of its entries.
    :ivar used: the numbers, from 1, of those that have answered, or were recorded.
    """

    entries: int = field(init=False, default=0)
    used: set[int] = field(init=False, factory=set)
