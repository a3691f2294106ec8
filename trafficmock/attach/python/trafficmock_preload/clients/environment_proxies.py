"""Removes trafficmock's proxy from those that libraries find in the environment, or are given.

The libraries' connections are tunnels already. With that proxy they would behave as behind a proxy:
raise other errors, not trust its certificate, and send requests in absolute form for plain HTTP.
Programs read the variables, too, and give what they find to their library. A library whose
connections could not be changed keeps the proxy.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any
    from urllib.parse import SplitResult

    from trafficmock_preload.proxy_tunnel import Tunnels

_WITHOUT = "_trafficmock_without"
"""The attribute of a manager with the one that acts in its place."""

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


def change_set_proxy(module: ModuleType, tunnels: Tunnels) -> None:
    """Change ``Request.set_proxy`` of ``urllib``, by which programs and handlers give a proxy."""
    request_class: Any = module.__dict__["Request"]
    original = request_class.set_proxy

    def set_proxy(self: Any, host: Any, type: Any) -> None:  # noqa: A002 - the library's name
        from urllib.parse import urlsplit

        if not is_needless(f"{type}://{host}", urlsplit(self.full_url), tunnels, "http.client"):
            original(self, host, type)

    request_class.set_proxy = set_proxy


def change_proxy_manager(module: ModuleType, tunnels: Tunnels, transport: str) -> None:
    """Change urllib3's ``ProxyManager``: what has trafficmock's proxy acts as without a proxy."""
    names: Any = module.__dict__
    manager, plain, parse_url = (
        names[name] for name in ("ProxyManager", "PoolManager", "parse_url")
    )
    urlopen, connection_from_host = manager.urlopen, manager.connection_from_host
    package = module.__name__.rpartition(".")[0]

    def without(self: Any, url: str) -> Any:
        from urllib.parse import urlsplit

        proxy = self.proxy
        connection = f"{package}.{transport}"
        if not is_needless(str(proxy), urlsplit(url), tunnels, connection):
            return None
        found = vars(self).get(_WITHOUT)
        if found is None:
            given = self.connection_pool_kw
            more = {name: given[name] for name in given if not name.startswith("_proxy")}
            # urllib3-future has another class of pools.
            most = getattr(self.pools, "_maxsize", None) or self.pools.maxsize
            found = plain(most, headers=self.headers, **more)
            found.pool_classes_by_scheme = self.pool_classes_by_scheme
            vars(self)[_WITHOUT] = found
        return found

    def open_url(self: Any, method: str, url: str, redirect: bool = True, **kw: Any) -> Any:
        target = parse_url(url)
        found = without(self, f"{target.scheme or 'http'}://{target.netloc}")
        if found is None:
            return urlopen(self, method, url, redirect=redirect, **kw)
        return found.urlopen(method, url, redirect=redirect, **kw)

    def from_host(
        self: Any, host: Any, port: Any = None, scheme: Any = "http", pool_kwargs: Any = None
    ) -> Any:
        shown = f"[{host}]" if ":" in str(host).strip("[]") else host
        found = without(self, f"{scheme or 'http'}://{shown}{f':{port}' if port else ''}")
        if found is None:
            return connection_from_host(self, host, port, scheme, pool_kwargs=pool_kwargs)
        kept = pool_kwargs and {
            name: pool_kwargs[name] for name in pool_kwargs if not name.startswith("_proxy")
        }
        return found.connection_from_host(host, port, scheme, pool_kwargs=kept)

    manager.urlopen, manager.connection_from_host = open_url, from_host


def change_select_proxy(module: ModuleType, tunnels: Tunnels, transport: str) -> None:
    """Change the choice of the proxy for a request in ``requests.adapters``."""
    original: Callable[..., str | None] = module.__dict__["select_proxy"]

    def select_proxy(url: str, proxies: Any) -> str | None:
        from urllib.parse import urlsplit

        proxy, target = original(url, proxies), urlsplit(url)
        return None if is_needless(proxy, target, tunnels, transport) else proxy

    module.__dict__["select_proxy"] = select_proxy


def change_transports(module: ModuleType, tunnels: Tunnels, transport: str) -> None:
    """Change the choice of the transport for a request in ``httpx``: each proxy has one."""
    for name in ("Client", "AsyncClient"):
        client = module.__dict__[name]
        client._transport_for_url = _transport_for_url(
            client._transport_for_url, tunnels, transport
        )


def _transport_for_url(
    original: Callable[..., Any], tunnels: Tunnels, transport: str
) -> Callable[..., Any]:
    def transport_for_url(self: Any, url: Any) -> Any:
        from urllib.parse import urlsplit

        found = original(self, url)
        proxy = getattr(getattr(found, "_pool", None), "_proxy_url", None)
        if proxy is not None:
            host = proxy.host.decode("ascii")
            proxy = (
                f"http://[{host}]:{proxy.port}" if ":" in host else f"http://{host}:{proxy.port}"
            )
        is_ours = is_needless(proxy, urlsplit(str(url)), tunnels, transport)
        return self._transport if is_ours else found

    return transport_for_url


def is_needless(proxy: str | None, target: SplitResult, tunnels: Tunnels, transport: str) -> bool:
    """Return whether a proxy is trafficmock's, and the library connects to the target by a tunnel.

    :param proxy: the proxy that a library chose for a request, a URL.
    :param target: the URL of the request.
    """
    port = target.port or (443 if target.scheme in {"https", "wss"} else 80)
    return (
        tunnels.is_proxy_url(proxy)
        and tunnels.wants(target.hostname, port)
        and _is_changed(transport, tunnels)
    )


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
