"""What counts as a secret: names of fields, and forms of keys that are known without a name.

The sources are in the common part of the regular expressions of RE2, which needs time linear in the
text, of Python and of JavaScript, whose Playwright package has the same ones (``tools/facts.py``).
"""

from __future__ import annotations

import re
from functools import lru_cache

NAMES = (
    r"authori[sz]ation|passw(?:or)?d|passphrase|passcode|pwd|secret|token|jwt|credential|cookie"
    r"|signature|csrf|xsrf|bearer|assertion|card[-_.]?number|sess(?:ion)?[-_.]?(?:id|key)"
    r"|(?:api|access|private|signing|encryption|shared|master|account|auth|subscription|functions)"
    r"[-_.]?key|auth[-_.]?code|code[-_.]?verifier"
)
"""A field is secret whose name has one of these, in any case."""

SHORT_NAMES = frozenset(
    {"auth", "pass", "pw", "pin", "otp", "totp", "mfa", "cvv", "cvc", "cvv2", "sid", "sig"}
)
"""A field of one of these names, in any case, is secret in headers, queries, forms and JSON."""

QUERY_NAMES = frozenset({"key", "code"})
"""So it is in a query or form alone; elsewhere these are usually no secrets."""

HARMLESS_ENDS = (
    r"(?:types?|counts?|limit|ur[il]|endpoint|name|length|polic(?:y|ies)|details|usage|supported"
    r"|required|enabled|methods?|errors?|exception|[-_.](?:at|in|on)|exp(?:ir(?:y|es|ation))?[-_.]?(?:at|in|on|time)?"
    r"|(?:expires|changed|created|updated|issued)(?:at|in|on))$"
)
"""A name with such an end says something about a secret, as ``token_type`` does."""

COUNTED = r"tokens$"
"""A number with a name of such an end counts something, as ``max_tokens`` does."""

SCHEMES = r"(?:Basic|Bearer|Digest|Token|ApiKey|AWS4-HMAC-SHA256|Negotiate|NTLM|SharedKey|DPoP)"
"""Words before the secret in ``authorization``, which are kept."""

URL = r":\\{0,2}/\\{0,2}/[^ \t\r\n\"'<>^`{|}]+"
"""A URL within a text, without its scheme."""

PRIVATE_KEY = r"(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)([^-]*)"
"""A private key in PEM; the second group is secret."""

BEARER = r"\b(bearer)( {1,4}|%20|\+)([A-Za-z0-9._~+/=-]{6,})"
"""A bearer token within a text, in any case; the last group is secret."""

BASIC = r"\b(basic)( {1,4}|%20|\+)([A-Za-z0-9+/=_-]{4,})"
"""Basic credentials within a text, in any case: the last group, if it is base64 with a colon."""

NOT_BEARER = (
    r"^(?:[Aa]uth(?:entication|orization|enticated|orized)?|[Tt]okens?|[Ss]cheme|[Rr]ealm"
    r"|[Ff]ormat|[Cc]redentials?)[.]?$"
)
"""Words that follow "bearer" in sentences, as sentences write them."""

KNOWN = (
    r"(^|[^A-Za-z0-9_-])("
    r"eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?"
    r"|sk-[A-Za-z0-9_-]{16,}"
    r"|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{8,}"
    r"|whsec_[A-Za-z0-9+/=]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}"
    r"|glpat-[A-Za-z0-9_-]{20,}"
    r"|xox[abeprs]-[A-Za-z0-9-]{10,}"
    r"|AIza[A-Za-z0-9_-]{30,}"
    r"|ya29\.[A-Za-z0-9_-]{20,}"
    r"|npm_[A-Za-z0-9]{30,}"
    r"|pypi-[A-Za-z0-9_-]{30,}"
    r"|hf_[A-Za-z0-9]{20,}"
    r"|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{20,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r")"
)
"""Keys whose form is known, and JSON Web Tokens; the second group is secret."""

PAIR = (
    rf"((?:set[-_]?)?(?:{NAMES})[A-Za-z0-9_.-]{{0,40}})"
    r"(\\{0,3}[\"']?\]?[ \t]{0,4}(?:[=:>]|%3[Dd])[ \t]{0,4})"
    rf"((?:{SCHEMES}[ \t]{{1,4}})?)"
    r"(\\{0,3}\"[^\"\\\r\n]+|'[^'\r\n]+|[^ \t\r\n\"'&<>\\;,}\]{\[][^ \t\r\n\"'&<>\\;,}\]]*)"
)
"""A name and its value within a text: ``name=value``, ``name: value``, ``"name": "value"``."""

COOKIES = r"\b((?:set-)?cookie2?)(\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?)([^\r\n\"']+)"
"""A line of cookies within a text."""

HINT = (
    rf"{NAMES}|basic|PRIVATE KEY|eyJ|sk-|[sr]k_|whsec_|AKIA|ASIA|gh[pousr]_|github_|glpat-"
    r"|xox|AIza|ya29|npm_|pypi-|hf_|shp|SG\."
)
"""A text without one of these, in any case, has none of what the patterns above find, but URLs."""

URL_HINT = (
    rf"{HINT}|[@#]|[?&](?:{'|'.join(sorted(SHORT_NAMES | QUERY_NAMES))})="
    r"|\?[^\n]*(?:[^A-Za-z0-9._~&=\n-]|[A-Za-z0-9_-]{16})"
)
"""A URL without one of these, in any case, has no secret: no user information, no fragment, and in
its query no secret name, nothing in a coding, and nothing as long as a key."""

_USUAL = 100
"""Names up to this many characters are remembered."""
_NAME = re.compile(NAMES, re.IGNORECASE)
_HARMLESS = re.compile(HARMLESS_ENDS, re.IGNORECASE)
_COUNTED = re.compile(COUNTED, re.IGNORECASE)


def is_secret(name: str, *, in_query: bool = False) -> bool:
    """Return whether a field of this name is secret.

    :param in_query: the field is one of a query or a form.
    """
    low = name.lower()
    if low in SHORT_NAMES or (in_query and low in QUERY_NAMES):
        return True
    return _is_long_name(low) if len(low) <= _USUAL else _is_long_name.__wrapped__(low)


@lru_cache(maxsize=2048)
def _is_long_name(name: str) -> bool:
    return _NAME.search(name) is not None and _HARMLESS.search(name) is None


def is_counted(name: str) -> bool:
    """Return whether a number of this name counts something."""
    return _COUNTED.search(name) is not None


def is_count(name: str, value: str) -> bool:
    """Return whether a value is a number that counts something, as that of ``max_tokens``."""
    return value.isdecimal() and is_counted(name)
