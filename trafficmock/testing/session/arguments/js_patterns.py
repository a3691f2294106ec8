"""Writes Python's patterns for the proxy, which reads those of JavaScript."""

import re
from typing import Any

from msgspec import UNSET, UnsetType

from trafficmock.matching.patterns.js_regex_syntax import UnsupportedRegexError
from trafficmock.matching.patterns.regex import compile_regex
from trafficmock.wire.payloads.serialized_matcher import SerializedRegex

_JS_FLAGS = {re.IGNORECASE: "i", re.DOTALL: "s", re.MULTILINE: "m"}
_HARMLESS = re.UNICODE | re.ASCII
_MEANS_OTHERWISE = re.compile(r"\[\^?\]")
"""Empty character classes of JavaScript; to Python they are classes with a bracket in them."""


def js_pattern(pattern: re.Pattern[Any]) -> SerializedRegex | UnsetType:
    """Return the pattern for the proxy; ``UNSET`` if JavaScript does not read it alike."""
    if not isinstance(pattern.pattern, str):
        return UNSET
    flags = pattern.flags & ~_HARMLESS
    letters = "".join(letter for flag, letter in _JS_FLAGS.items() if flags & flag)
    known = sum(flag for flag in _JS_FLAGS if flags & flag)
    if flags != known or _MEANS_OTHERWISE.search(pattern.pattern):
        return UNSET
    try:
        compile_regex(pattern.pattern, letters)
    except UnsupportedRegexError:
        return UNSET
    return SerializedRegex(pattern.pattern, letters)
