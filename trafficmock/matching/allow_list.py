"""The allow list of strict mode: patterns for the hosts and URLs of allowed requests.

A pattern without a slash is a host with an optional port; a pattern with a slash is a URL glob.
"""

import re
import sys
from collections.abc import Iterable

import ada_url
from attrs import frozen

from trafficmock.errors import LocalError
from trafficmock.ipv6 import read_ipv6
from trafficmock.matching.patterns.glob import Glob, compile_glob
from trafficmock.matching.patterns.glob_resolution import needs_base
from trafficmock.matching.patterns.glob_tokens import GlobError
from trafficmock.matching.starred_text import matches_starred
from trafficmock.matching.url_parts import UrlParts, shown_url

MOST_PATTERNS = 1000
"""The most patterns of one list."""

LONGEST_PATTERN = 2000
"""The most characters of a pattern."""

_MOST_QUOTED = 100
_HIGHEST_PORT = 65535
_HOST_AND_PORT = re.compile(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(?::(?P<port>.*))?", re.DOTALL)
_WITHOUT_PATH = re.compile(r"[^/]*://[^/]*")
"""A glob of a scheme and a host without a path: it matches no URL, since URLs have a path."""

_NO_HOST = re.compile(r"[\s?#@%\\]")
_WITH_STAR = re.compile(r"[a-z0-9._*-]+")


class AllowListError(LocalError):
    """A pattern is invalid; the message names the pattern, the fault and the correct form."""


@frozen
class HostPattern:
    """A pattern for hosts, with an optional port.

    :param pieces: the texts between the stars; a star stands for any text.
    :param port: in digits; ``None`` for any port.
    """

    pieces: tuple[str, ...]
    port: str | None

    def allows(self, parts: UrlParts) -> bool:
        """Return whether the pattern matches the host and port of a URL.

        It takes time linear in the length of the host.
        """
        host = parts.host.removesuffix(".")
        return self.port in (None, parts.port) and matches_starred(self.pieces, host)


@frozen(eq=False)
class AllowList:
    """The allow list of a test, a run or the service.

    :param texts: the patterns as the user wrote them.
    """

    texts: tuple[str, ...] = ()
    hosts: tuple[HostPattern, ...] = ()
    globs: tuple[Glob, ...] = ()

    def allows(self, url: str, parts: UrlParts | None) -> bool:
        """Return whether a pattern allows a request.

        :param url: the whole URL.
        :param parts: the parts of ``url``; ``None`` for a URL that no parser accepts, which then
            only a glob can allow.
        """
        if parts is not None and any(host.allows(parts) for host in self.hosts):
            return True
        if self.globs and "@" in url:
            # Without this, the star of `https://*.test/` could match `user@evil` before `.test`.
            url = shown_url(url, sys.maxsize)
        return any(glob.fullmatch(url) for glob in self.globs)


def read_allow_list(patterns: Iterable[str]) -> AllowList:
    """Parse the patterns of an allow list.

    :param patterns: such as ``auth.example``, ``*.example.com``, ``[::1]:8080`` and
        ``https://auth.example/token*``.
    :raises AllowListError: for a pattern that is neither a host nor a URL glob, and for more than
        :data:`MOST_PATTERNS`.
    """
    texts = tuple(patterns)
    if len(texts) > MOST_PATTERNS:
        raise AllowListError(
            f"{len(texts)} patterns are too many; at most {MOST_PATTERNS} are read"
        )
    hosts, globs = [], []
    for text in texts:
        if "/" in text:
            globs.append(_read_glob(text))
        else:
            hosts.append(_read_host(text))
    return AllowList(texts, tuple(hosts), tuple(globs))


def _read_glob(text: str) -> Glob:
    _check_length(text)
    if needs_base(text) or (text[0] == "*" and text[1] != "*" and "://" not in text):
        raise _error(text, "is no whole URL: write https://HOST/… or **/…")
    try:
        text.encode()
        glob = compile_glob(text)
    except UnicodeEncodeError:
        raise _error(text, "has half a character (a lone surrogate)") from None
    except GlobError as error:
        raise _error(text, f"is no URL glob: {error}") from error
    if _WITHOUT_PATH.fullmatch(text):
        raise _error(text, "has no path, as all URLs have: write HOST alone, or https://HOST/**")
    return glob


def _read_host(text: str) -> HostPattern:
    _check_length(text)
    address = read_ipv6(text)
    found = _HOST_AND_PORT.fullmatch(text if address is None else f"[{address}]")
    if found is None or (address is None and text.count(":") > 1 and text[0] != "["):
        raise _error(text, "is no host: write an IPv6 address as ::1, or with a port [::1]:8080")
    host, port = found["host"], found["port"]
    if _NO_HOST.search(host):
        raise _error(text, "is no host: write HOST or HOST:PORT alone, or a URL glob with a slash")
    if not host:
        raise _error(text, "names no host: write HOST, HOST:PORT, *.HOST or a URL glob")
    return HostPattern(_pieces(text, host), _port(text, port))


def _port(text: str, port: str | None) -> str | None:
    if port is None:
        return None
    if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) <= _HIGHEST_PORT):
        raise _error(text, f"has a wrong port: it is a number from 1 to {_HIGHEST_PORT}")
    return str(int(port))


def _pieces(text: str, host: str) -> tuple[str, ...]:
    """Split a host at its stars.

    A host without stars is normalised by a URL parser; one with stars is only checked.
    """
    if "*" in host:
        lowered = host.lower().removesuffix(".")
        if _WITH_STAR.fullmatch(lowered) is None:
            raise _error(text, "has a star among other letters than those of URLs (xn--… in them)")
        return tuple(lowered.split("*"))
    try:
        written = ada_url.URL(f"http://{host}/").hostname
    except (ValueError, UnicodeEncodeError):
        raise _error(text, "is no host: a URL with it cannot be read") from None
    return (written.removesuffix("."),)


def _check_length(text: str) -> None:
    if len(text) > LONGEST_PATTERN:
        raise _error(text, f"has more than {LONGEST_PATTERN} characters")


def _error(text: str, what: str) -> AllowListError:
    shown = text if len(text) <= _MOST_QUOTED else f"{text[:_MOST_QUOTED]}…"
    return AllowListError(f"the pattern {shown!r} {what}")
