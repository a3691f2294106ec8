"""Converts the host of a URL into the name that its certificate has."""

from __future__ import annotations

import ipaddress
import re
from ipaddress import IPv4Address, IPv6Address

import ada_url

Name = str | IPv4Address | IPv6Address

_MOST = 253
_PLAIN = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\Z")


class BadNameError(ValueError):
    """The host is neither a DNS name nor an IP address, so no certificate can be made for it."""


def certificate_name(host: str) -> Name:
    """Convert a host into the form of ``subjectAltName`` (RFC 5280 section 4.2.1.6).

    :param host: a name, in Unicode or as an A-label (RFC 5890), or an IP address, with or
            without brackets; an IPv6 zone and a final dot are ignored.
    :returns: the name in lower-case ASCII, or the address.
    :raises BadNameError: if it is neither a name nor an address.
    """
    plain = host.removeprefix("[").removesuffix("]").partition("%")[0].lower()
    if not plain.isascii():
        # The result may be an address: the WHATWG URL standard maps digits of any script to ASCII.
        plain = _ascii(host, plain)
    plain = plain.removesuffix(".")
    try:
        return ipaddress.ip_address(plain)
    except ValueError:
        if len(plain) > _MOST or not _PLAIN.match(plain):
            raise BadNameError(f"{host!r} is no host") from None
    return plain


def _ascii(host: str, name: str) -> str:
    """Convert a name in Unicode to A-labels, as the WHATWG URL standard does (UTS 46)."""
    try:
        return str(ada_url.URL(f"https://{name}/").hostname)
    except ValueError:
        raise BadNameError(f"{host!r} is no host") from None
