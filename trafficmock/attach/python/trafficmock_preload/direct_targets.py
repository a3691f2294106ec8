"""The servers that a process reaches directly, without the proxy."""

from __future__ import annotations

from trafficmock_preload.preload_settings import split_authority

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock_preload.preload_settings import PreloadSettings

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class DirectTargets:
    """The proxy itself, the hosts of ``NO_PROXY`` and those of ``TRAFFICMOCK_IGNORE_HOSTS``."""

    def __init__(self, settings: PreloadSettings) -> None:
        self._proxy = settings.host, settings.port
        self._no_proxy = [_no_proxy_rule(word) for word in settings.no_proxy]
        self._ignored = [_ignore_rule(word) for word in settings.ignored]

    def is_proxy(self, host: str, port: int) -> bool:
        """Return whether a server is the proxy itself, by any name of loopback."""
        own, own_port = self._proxy
        host = host.lower()
        return port == own_port and (host == own or (host in _LOOPBACK and own in _LOOPBACK))

    def includes(self, host: str, port: int) -> bool:
        """Return whether a server is reached directly."""
        host = host.lower().rstrip(".").strip("[]")
        return self.is_proxy(host, port) or any(
            rule(host, port) for rule in (*self._no_proxy, *self._ignored)
        )


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
    """Read a pattern as the Node agent does: ``*`` matches any text, no port all ports."""
    head, separator, tail = pattern.rpartition(":")
    has_port = bool(separator) and (tail == "*" or tail.isdigit()) and not head.endswith(":")
    name, port_text = (head, tail) if has_port else (pattern, "*")
    parts = name.lower().strip("[]").split("*")

    def rule(host: str, port: int) -> bool:
        return port_text in {"*", str(port)} and _matches(host, parts)

    return rule


def _matches(text: str, parts: list[str]) -> bool:
    """Return whether a text consists of these parts with any text between them."""
    first, *others = parts
    if not others:
        return text == first
    last = others.pop()
    if not text.startswith(first) or len(text) < len(first) + len(last):
        return False
    at, end = len(first), len(text) - len(last)
    if not text.endswith(last):
        return False
    for part in others:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
