"""What counts as a secret by its name, wherever a name and a value stand side by side.

The sources are in the common part of the regular expressions of RE2, which needs time linear in the
text, and of Python.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_SEP: Final = r"[-_.\[]?"

NAMES: Final = (
    rf"authori[sz]ation|pass{_SEP}w(?:or)?d|pass{_SEP}phrase|pass{_SEP}code|pass{_SEP}key|pwd|secret"
    r"|token|jwt|credential|cookie|signature|csrf|xsrf|bearer|assertion"
    rf"|card{_SEP}number|sess(?:ion)?{_SEP}(?:id|key)|connection{_SEP}string"
    rf"|saml{_SEP}(?:request|response|art)|pin{_SEP}code"
    r"|(?:api|access|private|signing|encryption|shared|master|account|auth|subscription|functions"
    rf"|consumer|licen[cs]e|ssh|hmac|webhook|deploy|service|admin){_SEP}key"
    r"|(?:auth(?:entication|ori[sz]ation)?|otp|mfa|2fa|security|verification|recovery|backup)"
    rf"{_SEP}code|code{_SEP}verifier"
)
"""A field is secret whose name has one of these, in any case."""

_SPACE: Final = "(?:[ :/+]|%20){1,3}"

SPACED_NAMES: Final = (
    rf"\b(?:pass{_SPACE}(?:word|phrase|code)|card{_SPACE}number|session{_SPACE}(?:id|key)"
    r"|(?:api|access|private|signing|encryption|shared|master|account|auth|subscription|functions)"
    rf"{_SPACE}key|(?:auth(?:entication|ori[sz]ation)?|security|verification|recovery|backup)"
    rf"{_SPACE}code|code{_SPACE}verifier|connection{_SPACE}string)\b"
)
"""The same with a space or another separator between their words, which are whole words then."""

SHORT_NAMES: Final = frozenset(
    {"auth", "pass", "pw", "pin", "otp", "totp", "mfa", "cvv", "cvc", "cvv2", "sid", "sig"}
)
"""A field of one of these names, in any case, is secret in headers, queries, forms, JSON and XML,
and so is one whose name ends with it in brackets or behind a dot, as ``user[pin]``."""

QUERY_NAMES: Final = frozenset({"key", "code"})
"""So it is in a query or form alone; elsewhere these are usually no secrets."""

HARMLESS_ENDS: Final = (
    r"(?:types?|counts?|limit|file|path|ur[il]|endpoint|name|length|polic(?:y|ies)|details|usage|supported"
    r"|required|enabled|methods?|errors?|exception|[-_.](?:at|in|on)|exp(?:ir(?:y|es|ation))?[-_.]?(?:at|in|on|time)?"
    r"|(?:expires|changed|created|updated|issued)(?:at|in|on))$"
)
"""A name with such an end says something about a secret, as ``token_type`` does."""

VALUE_NAMES: Final = frozenset(
    {"value", "val", "raw", "plain", "plaintext", "current", "old", "new"}
)
"""In an object whose name says something about a secret, such a field is the secret, as
``{"passwordDetails": {"value": …}}`` has it."""

COUNTED: Final = r"tokens$"
"""A number with a name of such an end counts something, as ``max_tokens`` does."""

SCHEMES: Final = (
    r"(?:Basic|Bearer|Digest|Token|ApiKey|AWS4-HMAC-SHA256|Negotiate|NTLM|SharedKey|DPoP)"
)
"""Words before the secret in ``authorization``, which are kept."""

URL: Final = r":\\{0,2}/\\{0,2}/[^ \t\r\n\"'<>^`{|}]+"
"""A URL within a text, without its scheme."""

COOKIES: Final = (
    r"\b((?:set-)?cookie2?)(\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?)([^\r\n\"']+)"
)
"""A line of cookies within a text."""

SHORT: Final = "|".join(sorted(SHORT_NAMES))

HINT: Final = rf"{NAMES}|{SPACED_NAMES}|(?:-u|--user)[ =]|(?:\b|%5B)(?:{SHORT}|key|code)(?:\b|%5D)"
"""A text without one of these, in any case, has no name of a secret."""

URL_HINT: Final = (
    rf"{HINT}|[@#]"
    r"|\?[^\n]*(?:[^A-Za-z0-9._~&=\n-]|[A-Za-z0-9_-]{16})"
)
"""A URL without one of these, in any case, has no secret but perhaps a key of a known form: no user
information, no fragment, and in its query no secret name, nothing in a coding, and nothing as long
as a key."""

_USUAL: Final = 100
"""Names up to this many characters are remembered."""
_NAME = re.compile(f"{NAMES}|{SPACED_NAMES}", re.IGNORECASE)
_HARMLESS = re.compile(HARMLESS_ENDS, re.IGNORECASE)
_COUNTED = re.compile(COUNTED, re.IGNORECASE)
_STEP = re.compile(r"[\[\].:/]+")


def is_secret(name: str, *, in_query: bool = False) -> bool:
    """Return whether a field of this name is secret.

    :param in_query: the field is one of a query or a form.
    """
    low = name.lower()
    if low in SHORT_NAMES or (in_query and low in QUERY_NAMES):
        return True
    judge = _is_long_name if len(low) <= _USUAL else _is_long_name.__wrapped__
    return judge(low, in_query)


@lru_cache(maxsize=2048)
def _is_long_name(name: str, in_query: bool) -> bool:  # noqa: FBT001 - lru_cache is slower with names
    if _NAME.search(name) is not None and _HARMLESS.search(name) is None:
        return True
    last = next((step for step in reversed(_STEP.split(name.strip(" \t!?-"))) if step), "")
    return last in SHORT_NAMES or (in_query and last in QUERY_NAMES)


def is_about(name: str) -> bool:
    """Return whether a name says something about a secret, as ``passwordDetails`` does."""
    return _NAME.search(name) is not None and not is_secret(name)


def is_counted(name: str) -> bool:
    """Return whether a number of this name counts something."""
    return _COUNTED.search(name) is not None


def is_count(name: str, value: str) -> bool:
    """Return whether a value is a number that counts something, as that of ``max_tokens``."""
    return value.isdecimal() and is_counted(name)
