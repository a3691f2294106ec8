"""Cookies as HAR 1.2 lists them."""

import re
from email.utils import parsedate_to_datetime
from typing import Any

# A comma that joins two cookies is followed by `name=`; the one in an Expires date is not, and
# a cookie's value has none (RFC 6265).
_JOINED = re.compile(r"\n|,\s*(?=[^\s;,=]+=)")


def split_set_cookie(value: str) -> list[str]:
    """Take apart the ``set-cookie`` lines that a header map had to join with comma or newline."""
    return [line.strip() for line in _JOINED.split(value) if line.strip()]


def sent_cookies(header: str) -> list[dict[str, Any]]:
    """List the cookies of a ``cookie`` header."""
    parts = [part.strip() for part in header.split(";")]
    return [_pair(part) for part in parts if part]


def set_cookie(line: str) -> dict[str, Any]:
    """Read one ``set-cookie`` line; attributes that HAR does not know are left out."""
    first, *attributes = line.split(";")
    cookie = _pair(first)
    for attribute in attributes:
        name, _, value = attribute.strip().partition("=")
        _add_attribute(cookie, name.lower(), value.strip())
    return cookie


def _pair(text: str) -> dict[str, Any]:
    name, equals, value = text.strip().partition("=")
    # Browsers take a cookie without "=" for one without a name.
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
            # A date that nobody can read; HAR has room for dates only.
            return
