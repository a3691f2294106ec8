"""What the core has to say, as lines that cannot pretend to be other lines."""

MOST_CHARACTERS = 2000
"""Of a line. Clients choose the names in it, and log files are for people."""


def one_line(text: str) -> str:
    """Make one printable line of a text with words of clients in it.

    :param text: of any length and with any characters, lone surrogates included.
    :returns: at most :data:`MOST_CHARACTERS` of it, line breaks and other controls escaped.
    """
    if len(text) > MOST_CHARACTERS:
        text = f"{text[: MOST_CHARACTERS - 1]}…"
    if text.isprintable():
        return text
    return "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")
