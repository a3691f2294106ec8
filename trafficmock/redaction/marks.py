"""The mark that stands for a secret: ``[redacted:3f9a2c51]``.

Its digits are a keyed hash, so equal secrets have equal marks wherever they stand, and nobody
without the key can try values. The key is random: one for each process, or one for each file.
"""

from __future__ import annotations

import hmac
import re

from trafficmock.texts.marked_texts import MARK

DIGITS = 8
"""The hexadecimal digits of a mark: two of 1000 secrets share one with a chance of 1 to 8000."""

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
