"""The URL of the forward proxy, and the environment variables with it for HTTP clients."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_network
from urllib.parse import quote, unquote, urlsplit

from attrs import field, frozen

from trafficmock.http.hosts import DEFAULT_PORTS, is_loopback
from trafficmock.texts.message_text import without_credentials

DEFAULT_CLIENT_ID = "proxy"
"""The client id of a client without credentials."""
NO_TOKEN = "-"  # noqa: S105 - the absence of one
"""The password without a token: many clients do not send a user without a password."""

_PROXIED = ("http", "https", "ws", "wss")


@frozen
class ProxyAddress:
    """The URL of the forward proxy, with the credentials of one application.

    :param scheme: ``http``, or ``https`` for a proxy behind TLS.
    :param client_id: the application's name in tests and the history; ``None`` for the default.
    :param token: the proxy's token; ``None`` for none.
    """

    scheme: str
    host: str
    port: int
    client_id: str | None = None
    token: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, url: str, client_id: str | None, token: str | None) -> ProxyAddress:
        """Parse a URL; its user and password are used if no client id or token is given.

        :raises ValueError: if it is not an http or https URL with a host.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{without_credentials(url)!r} is no URL of a proxy")
        return cls(
            parts.scheme,
            parts.hostname,
            parts.port or DEFAULT_PORTS[parts.scheme],
            client_id or unquote(parts.username or "") or None,
            token or unquote(parts.password or "") or None,
        )

    @property
    def authority(self) -> str:
        """Host and port. The port is always there, because curl's default port is 1080."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def base_url(self) -> str:
        """The URL without credentials, for agents and REST clients."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """The URL with credentials, percent-encoded (RFC 3986 section 3.2.1)."""
        if self.client_id is None and self.token is None:
            return self.base_url
        name = quote(self.client_id or DEFAULT_CLIENT_ID, safe="")
        return f"{self.scheme}://{name}:{quote(self.token or NO_TOKEN, safe='')}@{self.authority}"


def proxy_variables(address: ProxyAddress, direct: list[str]) -> dict[str, str]:
    """Make the proxy variables, in upper and lower case, because clients differ.

    ``ALL_PROXY`` is not set, because it is also for protocols that the proxy does not speak.

    :param direct: the hosts to reach directly, of :func:`direct_hosts`.
    """
    variables = {}
    for scheme in _PROXIED:
        variables[f"{scheme}_proxy"] = variables[f"{scheme.upper()}_PROXY"] = address.url
    no_proxy = ",".join(direct)
    return variables | {"no_proxy": no_proxy, "NO_PROXY": no_proxy}


def direct_hosts(
    address: ProxyAddress,
    present: Mapping[str, str],
    no_proxy: str | None = None,
) -> list[str]:
    """List the hosts to reach directly: the proxy itself, and loopback of ``NO_PROXY``.

    ``NO_PROXY`` says which servers a proxy of the network does not reach. Tests mock these, too,
    and strict mode must see them.

    :param no_proxy: hosts instead of those in ``NO_PROXY``.
    """
    if no_proxy is None:
        left_out = unapplied_hosts(present)
        words = [word for word in _no_proxy_words(present) if word not in left_out]
    else:
        words = _words(no_proxy)
    return list(dict.fromkeys([address.authority, *words]))


def unapplied_hosts(present: Mapping[str, str]) -> list[str]:
    """List the words of ``NO_PROXY`` that are left out: all but loopback.

    A name of ``NO_PROXY`` stands for its subdomains as well, in most programs.
    """
    return [word for word in _no_proxy_words(present) if not _is_loopback_word(word)]


def _no_proxy_words(present: Mapping[str, str]) -> list[str]:
    said = ",".join(present.get(name, "") for name in ("no_proxy", "NO_PROXY"))
    return list(dict.fromkeys(_words(said)))


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _is_loopback_word(word: str) -> bool:
    try:
        if "/" in word:
            return ip_network(word, strict=False).is_loopback
        if word.count(":") <= 1 or word.startswith("["):
            word = urlsplit(f"//{word}").hostname or ""
    except ValueError:
        return False
    return is_loopback(word.lower().removeprefix("*").lstrip("."))
