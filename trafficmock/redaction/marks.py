"""The mark that stands for a secret: ``[redacted:3f9a2c51]``.

Its digits are a keyed hash, so equal secrets have equal marks wherever they stand, and nobody
without the key can try values. The key is random: one for each process, or one for each file.
"""

from __future__ import annotations

import hmac
import re
from urllib.parse import unquote

DIGITS = 8
"""The hexadecimal digits of a mark: two of 1000 secrets share one with a chance of 1 to 8000."""

MARK = re.compile(r"\[redacted:([0-9a-f]{8})\]|redacted-([0-9a-f]{8})(?=[:@]|$)")
"""A mark, and the form that stands in the user information of a URL."""

_ENCODED = re.compile(r"%5[Bb]redacted(?:%3[Aa]|:)([0-9a-f]{8})%5[Dd]")


def mark(secret: str, key: bytes) -> str:
    """Return the mark of a secret; a mark and nothing stay what they are."""
    return f"[redacted:{digest(secret, key)}]" if secret and not is_marked(secret) else secret


def user_mark(secret: str, key: bytes) -> str:
    """Return the mark in the user information of a URL, where no brackets may stand."""
    return f"redacted-{digest(secret, key)}" if secret and not is_marked(secret) else secret


def digest(secret: str, key: bytes) -> str:
    """Return the digits of a mark."""
    content = secret.encode("utf-8", "surrogatepass")
    return hmac.new(key, content, "sha256").hexdigest()[:DIGITS]


def is_marked(text: str) -> bool:
    """Return whether a text is a mark, and nothing else."""
    return MARK.fullmatch(text) is not None or _ENCODED.fullmatch(text) is not None


def unquoted(text: str) -> str:
    """Return a percent-encoded text with its marks as they are written elsewhere."""
    return _ENCODED.sub(lambda found: f"[redacted:{found[1]}]", text)


def has_marks(text: str) -> bool:
    """Return whether a mark stands in a text."""
    return MARK.search(text) is not None


_IN_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s",\[\]{}]+')
_IN_URL = re.compile(r"[^&#/?@;]*")
_IN_PAIR = re.compile(r"[^&]*")


def fits(recorded: str, actual: str, *, is_url: bool = False) -> bool:
    """Return whether a text is a recorded one, where any value may stand for a mark.

    It takes time linear in both: each mark takes the longest value that it may.

    :param recorded: a text with marks.
    :param is_url: both are URLs: a value ends with its parameter, segment or part.
    """
    if _fits(recorded, actual, is_url=is_url):
        return True
    # Clients differ in what they encode.
    return is_url and _fits(unquote(recorded), unquote(actual), is_url=True)


def _fits(recorded: str, actual: str, *, is_url: bool) -> bool:
    here = there = 0
    for found in MARK.finditer(recorded):
        literal = recorded[here : found.start()]
        quoted = literal.endswith('"') and recorded[found.end() : found.end() + 1] == '"'
        if not actual.startswith(literal[:-1] if quoted and not is_url else literal, there):
            return False
        there += len(literal)
        here = found.end()
        if is_url or not quoted:
            there = _after(recorded, here, actual, there, _IN_URL if is_url else _IN_PAIR)
            continue
        # The value of JSON may be a number, and has no quotes then.
        value = _IN_JSON.match(actual, there - 1)
        if value is None:
            return False
        there, here = value.end(), here + 1
    return actual[there:] == recorded[here:]


def _after(recorded: str, here: int, actual: str, there: int, value: re.Pattern[str]) -> int:
    """Return where the value ends that stands for a mark.

    :param here: the place after the mark.
    :param there: the place where the value begins.
    """
    following = MARK.search(recorded, here)
    literal = recorded[here : following.start() if following else len(recorded)]
    found = value.match(actual, there)
    end = found.end() if found else there
    if not literal:
        return end
    if following is None and actual.endswith(literal) and len(actual) - len(literal) >= there:
        return min(end, len(actual) - len(literal))
    at = actual.find(literal, there, end + len(literal))
    return end if at < 0 else at
