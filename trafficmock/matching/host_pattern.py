"""Patterns of hosts, as options, arguments and variables take them: ``HOST`` or ``HOST:PORT``.

In both parts ``*`` is any text and ``?`` any character. Without a port, or with the port ``*``, a
pattern matches all ports. The Node agent (``agent/src/host-pattern.js``) and the preload of Python
applications (``direct_targets``) read the same patterns, and ``tests/data/host_patterns.json`` has
the cases for all three.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from ipaddress import IPv6Address

import ada_url
from attrs import frozen

from trafficmock.errors import LocalError
from trafficmock.matching.starred_text import matches_starred, matches_wildcards
from trafficmock.matching.url_parts import url_parts

LONGEST_PATTERN = 2000
"""The most characters of a pattern."""

MOST_CHARACTERS = 64 * 1024
"""The most characters of all patterns of one list."""

HIGHEST_PORT = 65535

_MOST_QUOTED = 100
_HOST_AND_PORT = re.compile(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(?::(?P<port>.*))?", re.DOTALL)
_NO_HOST = re.compile(r"[\s#@%\\/,]")
_WILDCARDS = re.compile(r"[*?]")
_WITH_WILDCARDS = re.compile(r"[a-z0-9._~*?-]+|\[[0-9a-f:.*?]+\]")
_PORT_WITH_WILDCARDS = re.compile(r"[0-9*?]+")
_IPV4_END = re.compile(
    r"(?!(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})\Z)(?:.*\.)?[0-9][0-9a-fx]*", re.DOTALL
)
"""A host that URL parsers may write as another IPv4 address, such as ``127.1`` (WHATWG URL)."""

_NO_ADDRESS = "is no host: write an IPv6 address as ::1, or with a port [::1]:8080"

UNDER_TEST = r"127(?:\.[0-9]+){3}|0\.0\.0\.0|\[::1?\]|(?:.*\.)?localhost|[^.\[\]]+"
"""A regular expression, for JavaScript too, of the hosts that are always under test."""

_ORIGIN = re.compile(r"//[^/?#]*")
_ELSEWHERE = "//named.by.no-pattern.invalid:9"


class PatternError(LocalError):
    """A pattern is invalid; the message names the pattern, the fault and the correct form.

    :param text: the pattern; a long one is shortened.
    :param fault: what is wrong with it, and what to write.
    """

    def __init__(self, text: str, fault: str) -> None:
        shown = text if len(text) <= _MOST_QUOTED else f"{text[:_MOST_QUOTED]}…"
        super().__init__(f"the pattern {shown!r} {fault}")
        self.fault = fault


@frozen(slots=False)
class HostPattern:
    """A pattern of hosts.

    :param text: the pattern as a URL parser writes hosts (IDNA, IPv6 compressed and in brackets).
        It has a port unless the pattern matches all ports.
    """

    text: str

    @cached_property
    def _whole(self) -> str:
        return f"{self.text}:*" if self.text.endswith("]") or ":" not in self.text else self.text

    @cached_property
    def _pieces(self) -> list[str]:
        return self._whole.split("*")

    def matches(self, place: str) -> bool:
        """Return whether the pattern matches ``host:port`` as :func:`place` writes it."""
        if "?" in self._whole:
            return matches_wildcards(self._whole, place)
        return matches_starred(self._pieces, place)


def check_characters(texts: Iterable[str]) -> None:
    """Refuse a list of patterns that would take long to read, before any is read.

    :raises PatternError: it has too many characters; the message names the first pattern that is
        too much.
    """
    left = MOST_CHARACTERS
    for text in texts:
        left -= len(text)
        if left < 0:
            raise PatternError(
                text,
                f"is too much: the patterns of a list have at most {MOST_CHARACTERS} characters",
            )


def read_host_pattern(text: str) -> HostPattern:
    """Parse a pattern.

    :param text: such as ``auth.example``, ``*.example.com:8080``, ``10.0.0.?``, ``fd00::1`` and
        ``[fd00::1]:8080``. An IPv6 address needs brackets if a port follows.
    :raises PatternError: if no host can match it.
    """
    if len(text) > LONGEST_PATTERN:
        raise PatternError(text, f"has more than {LONGEST_PATTERN} characters")
    is_bare = text.count(":") > 1 and not text.startswith("[")
    found = _HOST_AND_PORT.fullmatch(f"[{text}]" if is_bare else text)
    if found is None:
        raise PatternError(text, _NO_ADDRESS)
    host = _read_host(text, found["host"])
    port = _read_port(text, found["port"])
    return HostPattern(host if port == "*" else f"{host}:{port}")


def place(host: str, port: int | str) -> str:
    """Write the host and port of a request as patterns match them.

    :param host: IPv6 with or without brackets; an IPv4-mapped address becomes the IPv4 address.
    """
    host = host.strip("[]").lower().removesuffix(".")
    if ":" in host:
        host = _written_address(host) or f"[{host}]"
    elif _IPV4_END.fullmatch(host):
        host = _written(host) or host
    return f"{host}:{port}"


def matches_any(patterns: Iterable[HostPattern], host: str, port: int | str) -> bool:
    """Return whether one of the patterns matches the host and port of a request."""
    written = place(host, port)
    return any(pattern.matches(written) for pattern in patterns)


def is_under_test(patterns: Iterable[HostPattern], host: str, port: int | str) -> bool:
    """Return whether a host is part of the system under test.

    Loopback addresses, ``localhost`` and its subdomains are, and names without a dot, such as those
    of containers. So is ``0.0.0.0``, at which a system reaches its own servers.

    :param patterns: further hosts (``--own-host``).
    """
    written = place(host, port)
    if re.fullmatch(UNDER_TEST, written.rpartition(":")[0]):
        return True
    return any(pattern.matches(written) for pattern in patterns)


def elsewhere(url: str, patterns: Iterable[HostPattern]) -> str | None:
    """Return the URL at another origin, if its host is part of the system under test.

    A pattern that matches both does not name the origin.

    :param patterns: as in :func:`is_under_test`.
    :returns: ``None`` for other hosts, and for what is no URL.
    """
    parts = url_parts(url)
    if parts is None or not is_under_test(patterns, parts.host, parts.port):
        return None
    return _ORIGIN.sub(_ELSEWHERE, url, count=1)


def _read_host(text: str, host: str) -> str:
    if not host:
        raise PatternError(text, "names no host: write HOST, HOST:PORT or *.HOST")
    if _NO_HOST.search(text):
        raise PatternError(text, "is no host: write HOST or HOST:PORT alone")
    if _WILDCARDS.search(host):
        lowered = host.lower().removesuffix(".")
        if _WITH_WILDCARDS.fullmatch(lowered) is None:
            fault = "has a star or ? among other letters than those of URLs (xn--… in them)"
            raise PatternError(text, fault)
        return lowered
    in_brackets = host.startswith("[")
    written = _written_address(host[1:-1]) if in_brackets else _written(host)
    if written is None:
        fault = _NO_ADDRESS if in_brackets else "is no host: a URL with it cannot be read"
        raise PatternError(text, fault)
    return written


def _read_port(text: str, port: str | None) -> str:
    if port is None:
        return "*"
    if _WILDCARDS.search(port) and _PORT_WITH_WILDCARDS.fullmatch(port):
        return port if port.strip("*") else "*"
    digits = port.lstrip("0")
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(HIGHEST_PORT))
    if not is_number or int(digits) > HIGHEST_PORT:
        raise PatternError(text, f"has a wrong port: it is a number from 1 to {HIGHEST_PORT}")
    return digits


def _written(host: str) -> str | None:
    """Write a name or IPv4 address as a URL parser does; ``None`` if it is not a host."""
    try:
        name = ada_url.URL(f"http://{host}/").hostname.removesuffix(".")
    except (ValueError, UnicodeEncodeError):
        return None
    return name if name and not name.endswith(".") else None


def _written_address(address: str) -> str | None:
    """Write an IPv6 address in brackets, an IPv4-mapped one as the IPv4 address."""
    try:
        read = IPv6Address(address)
    except ValueError:
        return None
    # A zone has no place in a URL.
    if read.scope_id is not None:
        return None
    return str(read.ipv4_mapped or f"[{read}]")
