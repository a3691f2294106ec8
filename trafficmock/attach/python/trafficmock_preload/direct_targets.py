"""The servers that a process reaches directly, without the proxy."""

from __future__ import annotations

from trafficmock_preload.preload_settings import SettingsError, split_authority

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock_preload.preload_settings import PreloadSettings

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HIGHEST_PORT = 65535
_PATTERN = r"(?P<host>\[[0-9a-f:.*?]+\]|[^\s\[\]:/@#%\\]+)(?::(?P<port>[0-9*?]{1,9}))?"


class DirectTargets:
    """The proxy itself, the hosts of ``NO_PROXY`` and those of ``TRAFFICMOCK_IGNORE_HOSTS``."""

    def __init__(self, settings: PreloadSettings) -> None:
        """Read the patterns.

        :raises SettingsError: if a pattern of ``TRAFFICMOCK_IGNORE_HOSTS`` is wrong.
        """
        self._proxy = settings.host, settings.port
        self._no_proxy = [_no_proxy_rule(word) for word in settings.no_proxy]
        self._ignored = [_ignore_rule(word) for word in settings.ignored]

    def is_proxy(self, host: str, port: int) -> bool:
        """Return whether a server is the proxy itself, by any name of loopback."""
        own, own_port = self._proxy
        host = host.lower()
        return port == own_port and (host == own or (host in _LOOPBACK and own in _LOOPBACK))

    def is_near(self, host: str, port: int) -> bool:
        """Return whether a server is the proxy itself, or any on loopback."""
        return self.is_proxy(host, port) or _is_loopback(host.lower().rstrip(".").strip("[]"))

    def includes(self, host: str, port: int) -> bool:
        """Return whether a server is reached directly."""
        host = host.lower().rstrip(".").strip("[]")
        return self.is_proxy(host, port) or any(
            rule(host, port) for rule in (*self._no_proxy, *self._ignored)
        )


def _is_loopback(host: str) -> bool:
    return host in _LOOPBACK or host.endswith(".localhost") or _is_in(host, "127.0.0.0/8")


def _no_proxy_rule(word: str) -> Callable[[str, int], bool]:
    """Read a word of ``NO_PROXY``, as curl and Python's libraries do.

    ``*`` matches all hosts, a name itself and its subdomains, ``10.0.0.0/8`` a network. A word with
    a port matches that port only.
    """
    if word == "*":
        return lambda *_: True
    if "/" in word:
        return lambda host, _: _is_in(host, word)
    name, wanted = split_authority(word)
    name = name[1:] if name.startswith("*.") else name
    name = name.lstrip(".")

    def rule(host: str, port: int) -> bool:
        return (host == name or host.endswith(f".{name}")) and wanted in {None, port}

    return rule


def _is_in(host: str, network: str) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def _ignore_rule(pattern: str) -> Callable[[str, int], bool]:
    """Read a pattern of hosts as the proxy does (``trafficmock.matching.host_pattern``).

    That module is not at hand in an application. ``*`` is any text, ``?`` any character, and no
    port all ports.

    :raises SettingsError: if it is none.
    """
    import re
    from fnmatch import translate

    is_bare = pattern.count(":") > 1 and not pattern.startswith("[")
    found = re.fullmatch(_PATTERN, f"[{pattern}]" if is_bare else pattern, re.IGNORECASE)
    if found is None or not _is_possible(found["host"], found["port"] or "*"):
        raise SettingsError(
            "TRAFFICMOCK_IGNORE_HOSTS must be hosts such as *.sentry.io, localhost:4318 or "
            f"[::1]:80, not {pattern!r}"
        )
    written = f"{_written(found['host'])}:{(found['port'] or '*').lstrip('0')}"
    # In a glob of Python, brackets are a class of characters.
    matches = re.compile(translate(written.replace("[", "[[]"))).match
    return lambda host, port: matches(f"{_written(host)}:{port}") is not None


def _is_possible(host: str, port: str) -> bool:
    if port.isdigit() and not 0 < int(port) <= _HIGHEST_PORT:
        return False
    return ":" not in host or "*" in host or "?" in host or _address(host.strip("[]")) is not None


def _written(host: str) -> str:
    """Write a host as URLs have it: IPv6 compressed and in brackets, IPv4-mapped as IPv4."""
    host = host.lower().strip("[]").removesuffix(".")
    return (_address(host) or f"[{host}]") if ":" in host else host


def _address(host: str) -> str | None:
    from ipaddress import IPv6Address

    try:
        address = IPv6Address(host)
    except ValueError:
        return None
    return str(address.ipv4_mapped or f"[{address}]")
