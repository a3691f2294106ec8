"""Reads the settings of the preload from environment variables."""

from __future__ import annotations

from binascii import b2a_base64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

URL_VARIABLES = ("TRAFFICMOCK_PROXY_URL", "PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL")
AUTHORITY_VARIABLE = "TRAFFICMOCK_AUTHORITY_SHA256"
"""The SHA-256 of the proxy's authority: of its certificate in DER, in hex. Without the variable,
the authority that the proxy names is trusted."""

_DEFAULT_PORT = 80
_NO_TOKEN = "-"  # noqa: S105 - the absence of one
_CONTEXT_MS = 30000
_ALL = "all"


class SettingsError(ValueError):
    """A variable is wrong; the text names it and its allowed values."""


class PreloadSettings:
    """The proxy's address, this process's credentials, the direct hosts and the switches.

    :param environment: the variables of the process.
    :param default_id: returns the client id if no variable has one.
    :raises SettingsError: if a variable is wrong.
    """

    def __init__(self, environment: Mapping[str, str], default_id: Callable[[], str]) -> None:
        url = next(filter(None, map(environment.get, URL_VARIABLES)), "")
        user, password, self.host, self.port = _parts(url)
        token = environment.get("TRAFFICMOCK_TOKEN")
        token = token or environment.get("PLAYWRIGHT_BACKEND_MOCKS_TOKEN") or password
        client_id = environment.get("TRAFFICMOCK_CLIENT_ID") or user or default_id()
        if ":" in client_id:
            raise SettingsError(f"TRAFFICMOCK_CLIENT_ID must have no colon, not {client_id!r}")
        self.credentials = _basic(client_id, token or _NO_TOKEN)
        no_proxy = environment.get("no_proxy", environment.get("NO_PROXY", ""))
        self.no_proxy = _words(no_proxy)
        self.authority_sha256 = environment.get(AUTHORITY_VARIABLE, "").lower()
        self.ignored = _words(environment.get("TRAFFICMOCK_IGNORE_HOSTS", ""))
        self.allows_unattached = environment.get("TRAFFICMOCK_ALLOW_UNATTACHED") == "1"
        self.all_websockets = _is_all(environment, "TRAFFICMOCK_WEBSOCKET")
        self.reads_contexts = _switch(environment, "TRAFFICMOCK_CONTEXT")
        self.context_seconds = _milliseconds(environment, "TRAFFICMOCK_CONTEXT_MS") / 1000

    @property
    def authority(self) -> str:
        """Host and port of the proxy."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _parts(url: str) -> tuple[str, str, str, int]:
    """Parse the proxy's URL: user, password, host and port.

    :raises SettingsError: if it is not an http URL.
    """
    scheme, separator, rest = url.partition("://")
    place = rest.partition("/")[0].partition("?")[0]
    credentials, _, authority = place.rpartition("@")
    user, _, password = credentials.partition(":")
    host, port = split_authority(authority)
    scheme = scheme.lower()
    if scheme == "https":
        raise SettingsError(
            "TRAFFICMOCK_PROXY_URL must be an http:// URL for Python applications, whose "
            f"connections are tunnels through the proxy, not https://{authority}"
        )
    if not separator or scheme != "http" or not host or port == -1:
        raise SettingsError(
            "TRAFFICMOCK_PROXY_URL must look like http://127.0.0.1:4310 "
            f"(it names no http URL: {authority or 'no host'!r})"
        )
    return _unquoted(user), _unquoted(password), host, port or _DEFAULT_PORT


def split_authority(authority: str) -> tuple[str, int | None]:
    """Split ``host:port``.

    :returns: the host in lower case without brackets, and the port: ``None`` if it is absent, -1 if
        it is not a valid port.
    """
    if authority.startswith("["):
        host, _, rest = authority[1:].partition("]")
        port = rest.removeprefix(":")
    elif authority.count(":") > 1:
        host, port = authority, ""
    else:
        host, _, port = authority.partition(":")
    if not port:
        return host.lower(), None
    is_port = port.isascii() and port.isdigit() and int(port) < 65536  # noqa: PLR2004 - ports
    return host.lower(), int(port) if is_port else -1


def _unquoted(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)


def _basic(user: str, password: str) -> bytes:
    """Write Basic credentials (RFC 7617)."""
    return b"Basic " + b2a_base64(f"{user}:{password}".encode(), newline=False)


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _switch(environment: Mapping[str, str], name: str) -> bool:
    value = environment.get(name) or "1"
    if value not in {"0", "1"}:
        raise SettingsError(f"{name} must be 0 or 1, not {value!r}")
    return value == "1"


def _is_all(environment: Mapping[str, str], name: str) -> bool:
    value = environment.get(name) or "global"
    if value not in {"global", _ALL}:
        raise SettingsError(f"{name} must be global or all, not {value!r}")
    return value == _ALL


def _milliseconds(environment: Mapping[str, str], name: str) -> int:
    value = environment.get(name) or str(_CONTEXT_MS)
    if not (value.isascii() and value.isdigit()):
        raise SettingsError(f"{name} must be a number of milliseconds, not {value!r}")
    return int(value)
