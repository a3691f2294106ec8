"""Patterns of origins: ``SCHEME://HOST`` or ``SCHEME://HOST:PORT``, and ``*`` for all.

The scheme is ``http``, ``https`` or both by ``*`` or ``http*``. Host and port are a pattern of
hosts (:mod:`trafficmock.matching.host_pattern`); the port is the default one of the scheme if it
is left out, except behind a star, which stands for a port too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase

from attrs import frozen

from trafficmock.matching.host_pattern import (
    HostPattern,
    PatternError,
    check_characters,
    is_under_test,
    place,
    read_host_pattern,
)
from trafficmock.matching.url_parts import DEFAULT_PORTS

_SCHEMES = ("http", "https")
_PATTERN = re.compile(r"(?P<scheme>[a-z*?]+)://(?P<authority>.*)", re.IGNORECASE | re.DOTALL)
_WITH_PORT = re.compile(r".*(?::[^\]]*|\*)", re.DOTALL)


@frozen
class OriginPattern:
    """A pattern of origins.

    :param hosts: the hosts by scheme, ``http`` and ``https``.
    """

    hosts: dict[str, HostPattern]

    def matches(self, scheme: str, host: str, port: int | str) -> bool:
        """Return whether it matches an origin; IPv6 is with or without brackets."""
        return scheme in self.hosts and self.hosts[scheme].matches(place(host, port))


def read_origin_patterns(texts: Sequence[str]) -> tuple[OriginPattern, ...]:
    """Parse the patterns of an application.

    :raises PatternError: if no origin can match one of them, and for too many characters.
    """
    check_characters(texts)
    return tuple(map(read_origin_pattern, texts))


def read_origin_pattern(text: str) -> OriginPattern:
    """Parse a pattern.

    :param text: such as ``http://*.shop.test:8000``, ``http*://shop.test`` and ``*``.
    :raises PatternError: if no origin can match it.
    """
    found = _PATTERN.fullmatch("*://*" if text == "*" else text)
    if found is None:
        raise PatternError(text, "has no scheme: write http://HOST or https://HOST:PORT")
    schemes = [name for name in _SCHEMES if fnmatchcase(name, found["scheme"].lower())]
    if not schemes:
        raise PatternError(text, "has another scheme than http and https")
    authority = found["authority"]
    if "/" in authority:
        raise PatternError(text, "has a slash behind the host: an origin has no path")
    if authority.count(":") > 1 and not authority.startswith("["):
        raise PatternError(text, "is no origin: write an IPv6 address in brackets, as in URLs")
    has_port = _WITH_PORT.fullmatch(authority) is not None
    try:
        hosts = {
            scheme: read_host_pattern(
                authority if has_port else f"{authority}:{DEFAULT_PORTS[scheme]}"
            )
            for scheme in schemes
        }
    except PatternError as error:
        raise PatternError(text, error.fault) from None
    return OriginPattern(hosts)


def is_application(
    origins: Collection[OriginPattern],
    own_hosts: Iterable[HostPattern],
    scheme: str,
    host: str,
    port: int | str,
    *,
    everywhere: bool,
) -> bool:
    """Return whether an origin is the application of a test.

    :param origins: the application's origins. If there are none, the application is at the hosts
        under test.
    :param own_hosts: further hosts under test (``--own-host``).
    :param everywhere: whether hosts under test are the application besides the origins.
    """
    if any(one.matches(scheme, host, port) for one in origins):
        return True
    return (everywhere or not origins) and is_under_test(own_hosts, host, port)
