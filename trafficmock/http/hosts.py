"""Parsers of the hosts in ``Host``, ``Origin`` and socket addresses.

They return ``None`` for an invalid text and raise nothing: the texts come from clients.
"""

import ipaddress
import re

from attrs import frozen

from trafficmock.http.bounded_cache import cached_by_text

_AUTHORITY = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._~-]+))(?::(?P<port>[0-9]{0,5}))?"
)
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#@]+)", re.IGNORECASE)
_HIGHEST_PORT = 65535

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
"""The port of a URL without one, by its scheme."""

WILDCARDS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - listed, not listened on
"""The addresses that stand for all interfaces of the machine."""


@frozen
class Authority:
    """The ``host[:port]`` of a URL or a ``Host`` header.

    :param host: in lower case, without the brackets of IPv6 and without a final dot.
    :param port: ``None`` when the text has no port.
    """

    host: str
    port: int | None


@cached_by_text(maxsize=1024)
def parse_authority(text: str) -> Authority | None:
    """Parse ``host[:port]`` (RFC 9110 section 7.2).

    :returns: ``None`` for any other text, also for one with user information.
    """
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    port = int(found["port"]) if found["port"] else None
    if port is not None and port > _HIGHEST_PORT:
        return None
    if found["six"] is not None:
        address = parse_address(found["six"]) if ":" in found["six"] else None
        return None if address is None else Authority(str(address), port)
    host = found["name"].lower().removesuffix(".")
    return Authority(host, port) if host else None


@cached_by_text(maxsize=1024)
def parse_origin(text: str) -> Authority | None:
    """Parse the ``Origin`` of a page (RFC 6454); a missing port becomes that of the scheme.

    :returns: ``None`` for ``null`` and for schemes other than http and https.
    """
    found = _ORIGIN.fullmatch(text)
    if found is None:
        return None
    authority = parse_authority(found["authority"])
    if authority is None or authority.port is not None:
        return authority
    return Authority(authority.host, DEFAULT_PORTS[found["scheme"].lower()])


def parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an IP address; an IPv4-mapped IPv6 address becomes the IPv4 address.

    :returns: ``None`` for any other text.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


@cached_by_text(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Return whether ``host`` is a loopback host.

    ``localhost`` and the names under it are (RFC 6761 section 6.3), and so are 127.0.0.0/8 and
    ``::1``.

    :param host: a name in lower case, or an address without brackets.
    """
    address = parse_address(host)
    if address is not None:
        return address.is_loopback
    return host == "localhost" or host.endswith(".localhost")


def same_address(one: str, other: str) -> bool:
    """Return whether two texts are the same IP address, in any notation."""
    address = parse_address(one)
    return address is not None and address == parse_address(other)
