"""The URL of the forward proxy, and the environment variables with it for HTTP clients."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from attrs import frozen

from trafficmock.redaction import without_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_CLIENT_ID = "proxy"
"""The client id of a client without credentials."""
NO_TOKEN = "-"  # noqa: S105 - the absence of one
"""The password without a token: many clients do not send a user without a password."""

_PROXIED = ("http", "https", "ws", "wss")
_PORTS = {"http": 80, "https": 443}


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
    token: str | None = None

    @classmethod
    def parse(cls, url: str, client_id: str | None, token: str | None) -> ProxyAddress:
        """Parse a URL; its user and password are used if no client id or token is given.

        :raises ValueError: if it is not an http or https URL with a host.
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


def proxy_variables(
    address: ProxyAddress, present: Mapping[str, str], no_proxy: str | None = None
) -> dict[str, str]:
    """Make the proxy variables, in upper and lower case, because clients differ.

    ``ALL_PROXY`` is not set, because it is also for protocols that the proxy does not speak.

    :param present: the environment without the attachment; its ``NO_PROXY`` is kept.
    :param no_proxy: hosts to reach directly, instead of those in ``NO_PROXY``.
    """
    variables = {}
    for scheme in _PROXIED:
        variables[f"{scheme}_proxy"] = variables[f"{scheme.upper()}_PROXY"] = address.url
    direct = ",".join(direct_hosts(address, present, no_proxy))
    return variables | {"no_proxy": direct, "NO_PROXY": direct}


def direct_hosts(
    address: ProxyAddress, present: Mapping[str, str], no_proxy: str | None = None
) -> list[str]:
    """List the hosts to reach directly: the proxy itself, and those of ``NO_PROXY``.

    :param no_proxy: hosts instead of those in ``NO_PROXY``.
    """
    said = no_proxy
    if said is None:
        said = ",".join(present.get(name, "") for name in ("no_proxy", "NO_PROXY"))
    words = [address.authority, *(word.strip() for word in said.split(","))]
    return list(dict.fromkeys(word for word in words if word))
