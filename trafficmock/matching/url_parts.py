"""Splits the URL of a request into parts, and shortens URLs for messages."""

import re

import ada_url
from attrs import frozen

from trafficmock.texts.wording import Wording, url_text

DEFAULT_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443"}

_LONGEST_KEPT = 4096
"""The most characters of a URL that a text keeps."""

_LAST_WORD = re.compile(r"[^/?&=]*\Z")


@frozen
class UrlParts:
    """The parts of an absolute URL, normalised by a WHATWG URL parser.

    :param host: in lower case, IPv6 in brackets.
    :param port: in digits; that of the scheme if the URL has none; empty if that is unknown.
    :param query: with its question mark; empty without a query.
    """

    scheme: str
    host: str
    port: str
    path: str
    query: str

    @property
    def authority(self) -> str:
        """The host, with the port if it is not that of the scheme."""
        usual = self.port == DEFAULT_PORTS.get(self.scheme, "")
        return self.host if usual else f"{self.host}:{self.port}"


def url_parts(url: str) -> UrlParts | None:
    """Split a URL.

    :param url: any text.
    :returns: ``None`` for a text that the URL parser refuses, and for a URL without a host.
    """
    try:
        parsed = ada_url.URL(url)
    except (ValueError, UnicodeEncodeError):
        return None
    if not parsed.hostname:
        return None
    scheme = parsed.protocol.removesuffix(":")
    return UrlParts(
        scheme,
        parsed.hostname,
        parsed.port or DEFAULT_PORTS.get(scheme, ""),
        parsed.pathname,
        parsed.search,
    )


def comparable_url(url: str) -> str:
    """Return a URL as URL parsers write it (WHATWG), without its fragment; other texts as they are.

    So ``http://H.test:80`` is ``http://h.test/``: programs write one URL in different ways.
    """
    without_fragment = url.partition("#")[0]
    try:
        return str(ada_url.URL(without_fragment).href)
    except (ValueError, UnicodeEncodeError):
        return without_fragment


def bare_url(url: str) -> str:
    """Return a URL without user information and fragment.

    :param url: any text.
    """
    try:
        parsed = ada_url.URL(url)
    except (ValueError, UnicodeEncodeError):
        _, secret, rest = url.rpartition("@")
        return f"...@{rest}" if secret else url
    for name in ("username", "password", "hash"):
        if getattr(parsed, name):
            setattr(parsed, name, "")
    return str(parsed.href)


def shown_url(url: str, most: int) -> Wording:
    """Return a URL for messages: as :func:`bare_url` does, and cut.

    :param url: any text.
    :param most: the most characters that are shown.
    """
    bare = bare_url(url)
    if len(bare) > _LONGEST_KEPT:
        # Where marks are shorter than the secrets before it, the last word may come into sight, and
        # the beginning of a secret is not known by its form.
        kept = bare[:_LONGEST_KEPT]
        bare = kept[:most] + _LAST_WORD.sub("…", kept[most:], count=1)
    return url_text(bare, most)
