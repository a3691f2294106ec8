"""Patterns of text with stars, each of which stands for any text."""

from collections.abc import Sequence


def matches_starred(pieces: Sequence[str], text: str) -> bool:
    """Return whether a text matches a pattern with stars, in linear time.

    :param pieces: the texts between the stars; a pattern without a star is one piece.
    """
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return text == first
    position, end = len(first), len(text) - len(last)
    if position > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in pieces[1:-1]:
        found = text.find(piece, position, end)
        if found < 0:
            return False
        position = found + len(piece)
    return True
