"""Makes TLS within tunnels trust the proxy's authority; other connections do not trust it."""

from __future__ import annotations

import ssl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.proxy_tunnel import Tunnels

_MOST_CONTEXTS = 20
_contexts: dict[tuple[bytes, int, bool], ssl.SSLContext] = {}


def trusting(authority: bytes, wanted: Any) -> ssl.SSLContext:
    """Return a TLS context that trusts the proxy's authority alone.

    :param authority: the authority's certificate in DER.
    :param wanted: the application's context, whose settings of verification are kept.
    """
    verifies = int(getattr(wanted, "verify_mode", ssl.CERT_REQUIRED))
    checks_host = bool(getattr(wanted, "check_hostname", True))
    key = authority, verifies, checks_host
    context = _contexts.get(key)
    if context is None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = checks_host
        context.verify_mode = ssl.VerifyMode(verifies)
        context.load_verify_locations(cadata=authority)
        if len(_contexts) >= _MOST_CONTEXTS:
            _contexts.clear()
        _contexts[key] = context
    return context


def change_ssl(module: ModuleType, tunnels: Tunnels) -> None:
    """Change ``SSLContext.wrap_socket``, to use such a context for sockets of tunnels."""
    context_class: Any = module.__dict__["SSLContext"]
    original = context_class.wrap_socket

    def wrap_socket(self: Any, sock: Any, *args: Any, **kwargs: Any) -> Any:
        authority = tunnels.authority_of(sock)
        if authority is None:
            return original(self, sock, *args, **kwargs)
        kwargs.pop("session", None)
        wrapped = original(trusting(authority, self), sock, *args, **kwargs)
        tunnels.mark(wrapped, authority)
        return wrapped

    context_class.wrap_socket = wrap_socket
