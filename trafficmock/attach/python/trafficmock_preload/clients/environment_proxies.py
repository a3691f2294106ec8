"""Keeps libraries from taking trafficmock's proxy from the environment as well.

Their connections are tunnels already. With the proxy from the environment they would behave as
behind a proxy: with other errors, and with other requests for plain HTTP. A library whose
connections could not be changed keeps the proxy, and so does every other one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.proxy_tunnel import Tunnels

_SCHEMES = frozenset({"http", "https", "ws", "wss", "all"})


def change_getproxies(module: ModuleType, tunnels: Tunnels, transport: str) -> None:
    """Leave trafficmock's proxy out of what a library finds in the environment.

    :param module: where the library imports ``getproxies`` to.
    :param transport: the module whose connections have to be tunnels.
    """
    original: Callable[[], dict[str, str]] = module.__dict__["getproxies"]

    def getproxies() -> dict[str, str]:
        return without_trafficmock(original(), tunnels, transport)

    module.__dict__["getproxies"] = getproxies


def change_proxy_handler(module: ModuleType, tunnels: Tunnels) -> None:
    """Leave trafficmock's proxy out of what ``urllib`` finds in the environment."""
    names: Any = module.__dict__
    original = names["ProxyHandler"].__init__

    def __init__(self: Any, proxies: Any = None) -> None:  # noqa: N807 - that of the handler
        if proxies is None:
            proxies = without_trafficmock(names["getproxies"](), tunnels, "http.client")
        original(self, proxies)

    names["ProxyHandler"].__init__ = __init__


def without_trafficmock(
    proxies: Mapping[str, str], tunnels: Tunnels, transport: str
) -> dict[str, str]:
    """Leave trafficmock's proxy out, where a library's connections are tunnels."""
    ours = {
        scheme
        for scheme, url in proxies.items()
        if scheme in _SCHEMES and tunnels.is_proxy_url(url)
    }
    if not ours or not _is_changed(transport, tunnels):
        return dict(proxies)
    return {scheme: url for scheme, url in proxies.items() if scheme not in ours}


def _is_changed(transport: str, tunnels: Tunnels) -> bool:
    """Tell whether a module's connections are tunnels; httpx asks before it imports its own."""
    if transport not in tunnels.changed:
        from importlib import import_module

        try:
            import_module(transport)
        except ImportError:
            return False
    return transport in tunnels.changed
