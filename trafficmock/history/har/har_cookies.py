"""Parses ``cookie`` and ``set-cookie`` headers to the cookies of HAR 1.2."""

import re
from email.utils import parsedate_to_datetime
from typing import Any

# A comma between two cookies is followed by `name=`; the one in an Expires date is not, and
# the value of a cookie has no comma (RFC 6265 section 4.1.1).
_JOINED = re.compile(r"\n|,\s*(?=[^\s;,=]+=)")


def split_set_cookie(value: str) -> list[str]:
    """Split the ``set-cookie`` lines that a header map joined by commas or newlines."""
    return [line.strip() for line in _JOINED.split(value) if line.strip()]


def sent_cookies(header: str) -> list[dict[str, Any]]:
    """Parse a ``cookie`` header (RFC 6265 section 4.2)."""
    parts = [part.strip() for part in header.split(";")]
    return [_pair(part) for part in parts if part]


def set_cookie(line: str) -> dict[str, Any]:
    """Parse one ``set-cookie`` line; attributes that HAR does not have are left out."""
    first, *attributes = line.split(";")
    cookie = _pair(first)
    for attribute in attributes:
        name, _, value = attribute.strip().partition("=")
        _add_attribute(cookie, name.lower(), value.strip())
    return cookie


def _pair(text: str) -> dict[str, Any]:
    name, equals, value = text.strip().partition("=")
    # For browsers, a cookie without "=" is one without a name.
    return {"name": name.strip(), "value": value.strip()} if equals else {"name": "", "value": name}


def _add_attribute(cookie: dict[str, Any], name: str, value: str) -> None:
    if name in {"path", "domain"}:
        cookie[name] = value
    elif name == "secure":
        cookie["secure"] = True
    elif name == "httponly":
        cookie["httpOnly"] = True
    elif name == "samesite":
        cookie["sameSite"] = value
    elif name == "expires":
        try:
            cookie["expires"] = parsedate_to_datetime(value).isoformat()
        except (ValueError, OverflowError):
            # An invalid date is left out: `expires` of HAR must be a date.
            return
