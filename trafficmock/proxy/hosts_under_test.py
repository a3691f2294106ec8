"""The hosts of the system under test: requests for them keep their context, others lose it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import ada_url

from trafficmock.http.bounded_cache import cached_by_text
from trafficmock.http.hosts import is_loopback, parse_authority
from trafficmock.ipv6 import read_ipv6

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trafficmock.proxy.request_target import Origin

_GLOB = re.compile(
    r"(?P<host>\[[0-9a-f:.*]+\]|[a-z0-9._*-]+)(?P<port>:(?:\*|[1-9][0-9]{0,4}))?", re.IGNORECASE
)
_HIGHEST_PORT = 65535


def parse_own_host(text: str) -> str:
    """Read a glob of ``--own-host``: ``host`` or ``host:port``, in which ``*`` is any text.

    :param text: an IPv6 address needs brackets if a port follows. Without a port the glob matches
        all ports.
    :returns: the glob, with its host as a URL parser writes it.
    :raises ValueError: if no host can match it. The text says what it must be.
    """
    address = read_ipv6(text)
    found = _GLOB.fullmatch(text if address is None else f"[{address}]")
    host = None if found is None else _host_of_url(found["host"])
    port = "" if found is None else found["port"] or ""
    if host is None or (port[1:].isdigit() and int(port[1:]) > _HIGHEST_PORT):
        raise ValueError(
            f"a host such as *.shop.test, 10.0.0.*:8080 or [fd00::1], not {text!r}: "
            "no host can match it"
        )
    return host + port


def is_under_test(origin: Origin, globs: Sequence[str]) -> bool:
    """Return whether the host of an origin is part of the system under test.

    Loopback addresses, ``localhost`` and its subdomains are, and names without a dot, such as those
    of containers.

    :param globs: further hosts, in the form that :func:`parse_own_host` returns.
    """
    host = origin.host if ":" in origin.host else _host_of_url(origin.host) or origin.host
    if is_loopback(host) or ("." not in host and ":" not in host):
        return True
    if not globs:
        return False
    text = f"[{host}]:{origin.port}" if ":" in host else f"{host}:{origin.port}"
    return any(_expression(glob).fullmatch(text) for glob in globs)


@cached_by_text(maxsize=1024)
def _host_of_url(host: str) -> str | None:
    """Write a host as a URL parser does: IPv4 with dots, IPv6 compressed.

    :returns: ``None`` if it is not the host of a URL.
    """
    if "*" in host:
        return host.lower()
    try:
        name = ada_url.URL(f"http://{host}/").hostname
    except ValueError:
        return None
    # parse_authority converts an IPv4-mapped IPv6 address to the IPv4 address.
    authority = parse_authority(str(name))
    if authority is None or not authority.host or authority.host.endswith("."):
        return None
    return f"[{authority.host}]" if ":" in authority.host else authority.host


@cached_by_text(maxsize=1024)
def _expression(glob: str) -> re.Pattern[str]:
    whole = glob if re.search(r":(?:\d+|\*)\Z", glob) else f"{glob}:*"
    return re.compile(".*".join(re.escape(part) for part in re.split(r"\*+", whole)))
