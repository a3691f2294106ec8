"""Which conditions can match a URL at all, without trying them one by one."""

import re
from collections.abc import Hashable, Iterable
from itertools import accumulate, pairwise, starmap
from typing import Generic, TypeVar

import attrs

from trafficmock.matching.patterns.url_literals import MAX_END, Literals, Variant

#: So few members are tried sooner than looked up.
HANDFUL = 16
#: A text shared by so few is a good place; by more, a piece of it may be rarer.
FEW = 4
#: Lengths of the pieces of text that are looked up, in characters; the longest that a
#: text allows is used.  Each length in use costs one pass over the URL.
PIECE_LENGTHS = (4, 2)

#: Of a long text the end is looked at; texts begin alike more often than they end alike.
TAIL = 64

#: A component of a URL, with the slash in front of it.
_COMPONENT = re.compile("/?[^/]*")

T = TypeVar("T", bound=Hashable)


@attrs.define(eq=False)
class InvertedIndex(Generic[T]):
    """Members filed under labels; a label may be shared, a member may be filed repeatedly."""

    _filed: dict[str, dict[T, None]] = attrs.Factory(dict)

    def add(self, label: str, member: T) -> None:
        self._filed.setdefault(label, {})[member] = None

    def remove(self, label: str, member: T) -> None:
        """Take a member away.

        :raises KeyError: it is not there.
        """
        members = self._filed[label]
        del members[member]
        if not members:
            del self._filed[label]

    def count(self, label: str) -> int:
        """Count the members that share a label."""
        return len(self._filed.get(label, ()))

    def find(self, labels: Iterable[str]) -> list[T]:
        """List what is filed under any of the labels; a member may come more than once."""
        filed = self._filed
        return [member for label in labels if label in filed for member in filed[label]]

    def __bool__(self) -> bool:
        return bool(self._filed)


#: A shelf and the label under which a member is filed there.
Place = tuple[InvertedIndex[T], str]


@attrs.define(eq=False)
class Candidates(Generic[T]):
    """Files each member under the rarest text that a URL must have to concern it.

    A look-up then touches what is filed under texts of that very URL, however many
    other members there are.
    """

    _exact: InvertedIndex[T] = attrs.Factory(InvertedIndex)
    _beginnings: InvertedIndex[T] = attrs.Factory(InvertedIndex)
    _endings: InvertedIndex[T] = attrs.Factory(InvertedIndex)
    _pairs: InvertedIndex[T] = attrs.Factory(InvertedIndex)
    _components: InvertedIndex[T] = attrs.Factory(InvertedIndex)
    _pieces: dict[int, InvertedIndex[T]] = attrs.Factory(
        lambda: {n: InvertedIndex() for n in PIECE_LENGTHS}
    )
    #: Tried for every URL that contains their needle.
    _rest: dict[T, str] = attrs.Factory(dict)
    _places: dict[T, set[Place[T]]] = attrs.Factory(dict)

    def add(self, member: T, literals: Literals) -> None:
        """File a member.

        :param member: not filed yet.
        :param literals: what a URL must contain to concern it.
        """
        places = self._find_places(literals)
        if places is None:
            self._rest[member] = literals.needle
        self._places[member] = places or set()
        for shelf, label in self._places[member]:
            shelf.add(label, member)

    def remove(self, member: T) -> None:
        """Take a member away.

        :raises KeyError: it is not there.
        """
        for shelf, label in self._places.pop(member):
            shelf.remove(label, member)
        self._rest.pop(member, None)

    def find(self, url: str) -> Iterable[T]:
        """Find all members that the URL may concern, and few others.

        :param url: a whole URL.
        :return: each member once, in no particular order.
        """
        found = self._exact.find((url,)) if self._exact else []
        # One character more, so that what is cut within a component is too long for a label.
        if self._beginnings:
            found += self._beginnings.find(accumulate(_COMPONENT.findall(url[: MAX_END + 1])))
        if self._endings:
            last = url[-MAX_END - 1 :].split("/")
            found += self._endings.find(accumulate(reversed(last), _and_before))
        components = url.split("/")
        if self._pairs:
            found += self._pairs.find(set(starmap(_and_then, pairwise(components))))
        if self._components:
            found += self._components.find(set(components))
        for length, shelf in self._pieces.items():
            if shelf:
                found += shelf.find({url[n : n + length] for n in range(len(url) - length + 1)})
        found += [member for member, needle in self._rest.items() if needle in url]
        return dict.fromkeys(found)

    def __len__(self) -> int:
        return len(self._places)

    def _find_places(self, literals: Literals) -> set[Place[T]] | None:
        """Where a member is found by every URL that concerns it; nothing if always tried."""
        if literals.exact is not None:
            return {(self._exact, literals.exact)}
        places = {self._find_place(variant) for variant in literals.variants}
        found = {place for place in places if place is not None}
        return found if found == places else None

    def _find_place(self, variant: Variant) -> Place[T] | None:
        rarest = min(self._whole_texts(variant), key=_crowd, default=None)
        if rarest is not None and _crowd(rarest)[0] < FEW:
            return rarest
        if rarest is None and len(self._rest) < HANDFUL:
            return None
        shelf, piece = self._find_piece(variant)
        if rarest is not None and (not piece or _crowd(rarest)[0] <= shelf.count(piece)):
            return rarest
        return (shelf, piece) if piece else None

    def _whole_texts(self, variant: Variant) -> Iterable[Place[T]]:
        """Give the places that a look-up finds without cutting the URL's components up."""
        if variant.beginning:
            yield self._beginnings, variant.beginning
        if variant.ending:
            yield self._endings, variant.ending
        for pair in variant.pairs:
            yield self._pairs, pair
        for component in variant.components:
            yield self._components, component

    def _find_piece(self, variant: Variant) -> Place[T]:
        for length, shelf in self._pieces.items():
            tails = [text[-TAIL:] for text in variant.texts if len(text) >= length]
            pieces = [t[n : n + length] for t in tails for n in range(len(t) - length, -1, -1)]
            if pieces:
                return shelf, min(pieces, key=shelf.count)
        return self._components, ""


def _crowd(place: Place[T]) -> tuple[int, int]:
    """Order places: few members first, then long labels, which will stay rare."""
    shelf, label = place
    return shelf.count(label), -len(label)


def _and_then(beginning: str, component: str) -> str:
    return f"{beginning}/{component}"


def _and_before(ending: str, component: str) -> str:
    return f"{component}/{ending}"
