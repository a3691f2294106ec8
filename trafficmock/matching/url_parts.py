"""A request's URL in its parts, for matchers that compare some of them."""

import ada_url
from attrs import frozen

DEFAULT_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443"}


@frozen
class UrlParts:
    """The parts of an absolute URL, as a URL parser writes them.

    :param host: in lower case, IPv6 in brackets.
    :param port: in digits, that of the scheme where the URL has none; empty where that is unknown.
    :param query: with its question mark; empty without one.
    """

    scheme: str
    host: str
    port: str
    path: str
    query: str

    @property
    def authority(self) -> str:
        """The host, with the port where it is not that of the scheme."""
        usual = self.port == DEFAULT_PORTS.get(self.scheme, "")
        return self.host if usual else f"{self.host}:{self.port}"


def url_parts(url: str) -> UrlParts | None:
    """Take a URL apart.

    :param url: any text.
    :returns: ``None`` for what no URL parser accepts, or what has no host.
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


def shown_url(url: str, most: int) -> str:
    """Write a URL for people: without user name, password and fragment, and not too long.

    :param url: any text.
    :param most: characters.
    """
    try:
        parsed = ada_url.URL(url)
    except (ValueError, UnicodeEncodeError):
        _, secret, rest = url.rpartition("@")
        shown = f"...@{rest}" if secret else url
    else:
        for name in ("username", "password", "hash"):
            if getattr(parsed, name):
                setattr(parsed, name, "")
        shown = parsed.href
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
