"""Where the proxy is, in the variables that HTTP clients look at."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from attrs import frozen

from trafficmock.redaction import without_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_CLIENT_ID = "proxy"
"""The client id that the forward proxy gives a client without credentials."""
NO_TOKEN = "-"  # noqa: S105 - the absence of one
"""Stands for a token that nobody asks for: many clients drop a name without a password."""

_PROXIED = ("http", "https", "ws", "wss")
_PORTS = {"http": 80, "https": 443}


@frozen
class ProxyAddress:
    """The forward proxy as an application sees it.

    :param scheme: ``http``, or ``https`` where something puts TLS before the proxy.
    :param client_id: how tests and the history name the application, ``None`` for the default.
    :param token: what the proxy asks for, if anything.
    """

    scheme: str
    host: str
    port: int
    client_id: str | None = None
    token: str | None = None

    @classmethod
    def parse(cls, url: str, client_id: str | None, token: str | None) -> ProxyAddress:
        """Take a URL apart; id and token in it count where none are given.

        :raises ValueError: when it is not the URL of a proxy.
        """
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError(f"{without_credentials(url)!r} is no URL of a proxy")
        return cls(
            parts.scheme,
            parts.hostname,
            parts.port or _PORTS[parts.scheme],
            client_id or unquote(parts.username or "") or None,
            token or unquote(parts.password or "") or None,
        )

    @property
    def authority(self) -> str:
        """Host and port. The port is always there: curl would else take 1080."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def base_url(self) -> str:
        """The URL without credentials, as agents and REST clients use it."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """The URL with the credentials in it, escaped as RFC 3986 section 3.2.1 wants it."""
        if self.client_id is None and self.token is None:
            return self.base_url
        name = quote(self.client_id or DEFAULT_CLIENT_ID, safe="")
        return f"{self.scheme}://{name}:{quote(self.token or NO_TOKEN, safe='')}@{self.authority}"


def proxy_variables(
    address: ProxyAddress, present: Mapping[str, str], no_proxy: str | None = None
) -> dict[str, str]:
    """List the proxy variables, in both cases since clients differ.

    ``ALL_PROXY`` stays as it is: it is for what the proxy does not speak, such as FTP.

    :param present: the environment so far, whose ``NO_PROXY`` is kept.
    :param no_proxy: hosts to reach directly, instead of those.
    """
    variables = {}
    for scheme in _PROXIED:
        variables[f"{scheme}_proxy"] = variables[f"{scheme.upper()}_PROXY"] = address.url
    direct = ",".join(direct_hosts(address, present, no_proxy))
    return variables | {"no_proxy": direct, "NO_PROXY": direct}


def direct_hosts(
    address: ProxyAddress, present: Mapping[str, str], no_proxy: str | None = None
) -> list[str]:
    """List what does not go through the proxy: the proxy itself, and what the user named."""
    said = no_proxy
    if said is None:
        said = ",".join(present.get(name, "") for name in ("no_proxy", "NO_PROXY"))
    words = [address.authority, *(word.strip() for word in said.split(","))]
    return list(dict.fromkeys(word for word in words if word))
