"""The coordinator's address, and the error when no proxy answers there."""

import os
from urllib.parse import urlsplit, urlunsplit

from trafficmock.attach import agent_variables
from trafficmock.testing.errors import ConnectionLostError, UsageError
from trafficmock.texts.message_text import without_credentials


def websocket_url(proxy_url: str) -> str:
    """Return the URL of the coordinator's WebSocket (``ws://…/ws``) for a proxy's URL.

    :raises UsageError: the URL is not an ``http`` or ``https`` URL with a host.
    """
    parts = urlsplit(proxy_url)
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme)
    if scheme is None or not parts.netloc:
        shown = without_credentials(proxy_url)
        raise UsageError(f"the proxy's URL must be like http://127.0.0.1:4310, not {shown!r}")
    return urlunsplit((scheme, parts.netloc, "/ws", "", ""))


def unreachable(proxy_url: str, error: BaseException) -> ConnectionLostError:
    """Return the error for a proxy that cannot be reached."""
    return ConnectionLostError(
        f"no trafficmock proxy at {without_credentials(proxy_url)}{_origin(proxy_url)}: {error}. "
        "Start one with `trafficmock serve`, or say where it is: --trafficmock-proxy-url URL in "
        "pytest, or TRAFFICMOCK_PROXY_URL in the environment."
    )


def _origin(proxy_url: str) -> str:
    """Return where a URL comes from, if this process can tell."""
    variable = agent_variables.proxy_url_variable(os.environ)
    if variable is not None and os.environ[variable] == proxy_url:
        return f" (the URL in {variable})"
    return " (the default URL)" if proxy_url == agent_variables.DEFAULT_PROXY_URL else ""
