"""Writes the name of a host in the form that certificates have."""

from __future__ import annotations

import ipaddress
import re
from ipaddress import IPv4Address, IPv6Address

import ada_url

Name = str | IPv4Address | IPv6Address

_MOST = 253
_PLAIN = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\Z")


class BadNameError(ValueError):
    """No certificate can be made for such a host."""


def certificate_name(host: str) -> Name:
    """Bring a host into the form that stands in ``subjectAltName`` (RFC 5280 section 4.2.1.6).

    :param host: a name, in Unicode or as an A-label (RFC 5890), or an IP address, with or
        without brackets; a zone or a final dot does not count.
    :returns: the name in lower-case ASCII, or the address.
    :raises BadNameError: when it is neither.
    """
    plain = host.removeprefix("[").removesuffix("]").partition("%")[0].lower()
    if not plain.isascii():
        # May become an address: browsers read digits of any script.
        plain = _ascii(host, plain)
    plain = plain.removesuffix(".")
    try:
        return ipaddress.ip_address(plain)
    except ValueError:
        if len(plain) > _MOST or not _PLAIN.match(plain):
            raise BadNameError(f"{host!r} is no host") from None
    return plain


def _ascii(host: str, name: str) -> str:
    """Make an A-label name as URLs do (WHATWG URL, which is UTS 46)."""
    try:
        return str(ada_url.URL(f"https://{name}/").hostname)
    except ValueError:
        raise BadNameError(f"{host!r} is no host") from None
