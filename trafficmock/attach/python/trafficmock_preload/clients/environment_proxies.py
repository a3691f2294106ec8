"""Removes trafficmock's proxy from the proxies that libraries find in the environment.

The libraries' connections are tunnels already. With the proxy of the environment they would behave
as behind a proxy: raise other errors, and send requests in absolute form for plain HTTP. A library
whose connections could not be changed keeps the proxy.
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
    """Change the ``getproxies`` of a library.

    :param module: the module into which the library imports ``getproxies``.
    :param transport: the module that opens the library's connections.
    """
    original: Callable[[], dict[str, str]] = module.__dict__["getproxies"]

    def getproxies() -> dict[str, str]:
        return without_trafficmock(original(), tunnels, transport)

    module.__dict__["getproxies"] = getproxies


def change_proxy_handler(module: ModuleType, tunnels: Tunnels) -> None:
    """Change the default proxies of ``urllib``."""
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
    """Return proxies without trafficmock's, if the library's connections are tunnels."""
    ours = {
        scheme
        for scheme, url in proxies.items()
        if scheme in _SCHEMES and tunnels.is_proxy_url(url)
    }
    if not ours or not _is_changed(transport, tunnels):
        return dict(proxies)
    return {scheme: url for scheme, url in proxies.items() if scheme not in ours}


def _is_changed(transport: str, tunnels: Tunnels) -> bool:
    """Return whether a module's connections are tunnels; it is imported if it was not yet."""
    if transport not in tunnels.changed:
        from importlib import import_module

        try:
            import_module(transport)
        except ImportError:
            return False
    return transport in tunnels.changed
