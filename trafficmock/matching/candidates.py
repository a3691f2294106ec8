"""Finds the conditions that can match a URL without trying all of them.

Each condition is in an inverted index under a literal text that matching URLs have.
"""

import re
from collections.abc import Hashable, Iterable
from itertools import accumulate, compress, pairwise, starmap
from typing import Generic, TypeVar

import attrs

from trafficmock.matching.patterns.url_literals import MAX_END, Literals, Variant

#: To search the URL for one text of each of this many members is faster than a look-up.
HANDFUL = 16
#: A label with fewer members than this is used; otherwise a piece of the text may be rarer.
FEW = 4
#: Lengths of the indexed pieces of texts, in characters; a text uses the longest that fits.
#: Each length in use costs one pass over the URL.
PIECE_LENGTHS = (4, 2)

#: Characters at the end of a long text from which pieces are taken: beginnings are more often
#: the same than ends.
TAIL = 64

#: A component of a URL, with the slash in front of it.
_COMPONENT = re.compile("/?[^/]*")

T = TypeVar("T", bound=Hashable)


@attrs.define(eq=False)
class InvertedIndex(Generic[T]):
    """Members by labels: a label may have several members, a member several labels."""

    _filed: dict[str, dict[T, None]] = attrs.Factory(dict)

    def add(self, label: str, member: T) -> None:
        self._filed.setdefault(label, {})[member] = None

    def remove(self, label: str, member: T) -> None:
        """Remove a member from a label.

        :raises KeyError: for a member that is not there.
        """
        members = self._filed[label]
        del members[member]
        if not members:
            del self._filed[label]

    def count(self, label: str) -> int:
        """Return the number of members of a label."""
        return len(self._filed.get(label, ()))

    def find(self, labels: Iterable[str]) -> list[T]:
        """Return the members of all the labels; a member may be there more than once."""
        filed = self._filed
        return [member for label in labels if label in filed for member in filed[label]]

    def __bool__(self) -> bool:
        return bool(self._filed)


#: An index (a "shelf") and the label of a member in it.
IndexPlace = tuple[InvertedIndex[T], str]


@attrs.define(eq=False)
class Candidates(Generic[T]):
    """An index of members by the rarest literal text of each.

    A look-up reads only the members under texts of that URL, so it does not depend on the number
    of other members. There is one :class:`InvertedIndex` for each kind of text: whole URLs,
    beginnings, endings, pairs of components, components, and pieces of texts.
    """

    _exact: InvertedIndex[T] = attrs.Factory(InvertedIndex)
    _beginnings: InvertedIndex[T] = attrs.Factory(InvertedIndex)
    _endings: InvertedIndex[T] = attrs.Factory(InvertedIndex)
    _pairs: InvertedIndex[T] = attrs.Factory(InvertedIndex)
    _components: InvertedIndex[T] = attrs.Factory(InvertedIndex)
    _pieces: dict[int, InvertedIndex[T]] = attrs.Factory(
        lambda: {n: InvertedIndex() for n in PIECE_LENGTHS}
    )
    #: A text of each member that every URL contains for which it is a candidate; may be empty.
    _needles: dict[T, str] = attrs.Factory(dict)
    #: The needles of the members without a rare text, which are in no index.
    _rest: dict[T, str] = attrs.Factory(dict)
    _places: dict[T, set[IndexPlace[T]]] = attrs.Factory(dict)

    def add(self, member: T, literals: Literals) -> None:
        """Add a member.

        :param member: a member that is not there yet.
        :param literals: the literal texts of the URLs for which the member is a candidate.
        """
        places = self._find_places(literals)
        needle = self._needles[member] = literals.exact or literals.needle
        if places is None:
            self._rest[member] = needle
        self._places[member] = places or set()
        for shelf, label in self._places[member]:
            shelf.add(label, member)

    def remove(self, member: T) -> None:
        """Remove a member.

        :raises KeyError: for a member that is not there.
        """
        for shelf, label in self._places.pop(member):
            shelf.remove(label, member)
        del self._needles[member]
        self._rest.pop(member, None)

    def find(self, url: str) -> Iterable[T]:
        """Return all members whose literals the URL satisfies, and few others.

        :param url: a whole URL.
        :returns: each member once, in no particular order.
        """
        if len(self._needles) <= HANDFUL:
            return compress(self._needles, map(url.__contains__, self._needles.values()))
        found = self._exact.find((url,)) if self._exact else []
        # With one character more, a component that is cut here is longer than any label.
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

    def _find_places(self, literals: Literals) -> set[IndexPlace[T]] | None:
        """Return the places of a member, one for each variant; ``None`` if one has no place."""
        if literals.exact is not None:
            return {(self._exact, literals.exact)}
        places = {self._find_place(variant) for variant in literals.variants}
        found = {place for place in places if place is not None}
        return found if found == places else None

    def _find_place(self, variant: Variant) -> IndexPlace[T] | None:
        rarest = min(self._whole_texts(variant), key=_crowd, default=None)
        if rarest is not None and _crowd(rarest)[0] < FEW:
            return rarest
        if rarest is None and len(self._rest) < HANDFUL:
            return None
        shelf, piece = self._find_piece(variant)
        if rarest is not None and (not piece or _crowd(rarest)[0] <= shelf.count(piece)):
            return rarest
        return (shelf, piece) if piece else None

    def _whole_texts(self, variant: Variant) -> Iterable[IndexPlace[T]]:
        """Yield the places of whole components, and of several of them."""
        if variant.beginning:
            yield self._beginnings, variant.beginning
        if variant.ending:
            yield self._endings, variant.ending
        for pair in variant.pairs:
            yield self._pairs, pair
        for component in variant.components:
            yield self._components, component

    def _find_piece(self, variant: Variant) -> IndexPlace[T]:
        for length, shelf in self._pieces.items():
            tails = [text[-TAIL:] for text in variant.texts if len(text) >= length]
            pieces = [t[n : n + length] for t in tails for n in range(len(t) - length, -1, -1)]
            if pieces:
                return shelf, min(pieces, key=shelf.count)
        return self._components, ""


def _crowd(place: IndexPlace[T]) -> tuple[int, int]:
    """Return the sort key of a place: few members first, then long labels, which stay rare."""
    shelf, label = place
    return shelf.count(label), -len(label)


def _and_then(beginning: str, component: str) -> str:
    return f"{beginning}/{component}"


def _and_before(ending: str, component: str) -> str:
    return f"{component}/{ending}"
