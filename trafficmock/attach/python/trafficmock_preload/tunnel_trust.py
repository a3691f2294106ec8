"""Makes TLS within tunnels trust the proxy's authority; other connections do not trust it."""

from __future__ import annotations

import ssl

from trafficmock_preload.demanded_trust import demand_lines, note_contents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.proxy_tunnel import Tunnels

_wrap = ssl.SSLContext.wrap_socket
_CONTEXT_CLASS = ssl.SSLContext
"""The standard library's class: ``truststore.inject_into_ssl()`` replaces it in the module."""

_set_verify_mode = super(_CONTEXT_CLASS, _CONTEXT_CLASS).verify_mode.__set__  # type: ignore[attr-defined]
"""The setter beneath that of the class, which recurs without end once the class is replaced."""

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
        context = _CONTEXT_CLASS(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = checks_host
        _set_verify_mode(context, ssl.VerifyMode(verifies))
        context.load_verify_locations(cadata=authority)
        if len(_contexts) >= _MOST_CONTEXTS:
            _contexts.clear()
        _contexts[key] = context
    return context


def change_ssl(module: ModuleType, tunnels: Tunnels) -> None:
    """Change ``SSLContext.wrap_socket``, to use such a context for sockets of tunnels."""
    _change_class(module.__dict__["SSLContext"], tunnels)


def change_truststore(module: ModuleType, tunnels: Tunnels) -> None:
    """Change truststore's class in the same way; it would ask the machine's own store."""
    _change_class(module.__dict__["SSLContext"], tunnels)


def change_pyopenssl(module: ModuleType, tunnels: Tunnels) -> None:
    """Change the contexts that urllib3 has with pyOpenSSL in the same way."""
    _change_class(module.__dict__["PyOpenSSLContext"], tunnels)


def _change_class(context_class: Any, tunnels: Tunnels) -> None:
    original = context_class.wrap_socket
    note_contents(context_class)

    def wrap_socket(self: Any, sock: Any, *args: Any, **kwargs: Any) -> Any:
        authority = tunnels.authority_of(sock)
        if authority is not None:
            pin = tunnels.pins.get(sock, "")
            authority = tunnels.demand(sock, demand_lines(self, pin))
        if authority is None:
            return original(self, sock, *args, **kwargs)
        kwargs.pop("session", None)
        wrapped = _wrap(trusting(authority, self), sock, *args, **kwargs)
        tunnels.mark(wrapped, authority)
        if pin:
            tunnels.keep_own(wrapped.getpeercert(binary_form=True) or b"")
        return wrapped

    context_class.wrap_socket = wrap_socket
