"""Patterns of text with stars, each of which stands for any text, and ``?`` for a character."""

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


def matches_wildcards(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern of stars and question marks, in linear time.

    One bit for each place of the pattern says whether it is reached; a letter of the text moves all
    of them at once.

    :param pattern: of a few thousand characters at most.
    """
    letters: dict[str, int] = {}
    any_letter = stays = length = 0
    for char in pattern:
        if char == "*":
            stays |= 1 << length
            continue
        if char == "?":
            any_letter |= 1 << length
        else:
            letters[char] = letters.get(char, 0) | 1 << length
        length += 1
    reached = 1
    for char in text:
        moves = reached & (letters.get(char, 0) | any_letter)
        reached = moves << 1 | reached & stays
        if not reached:
            return False
    return reached >> length == 1
