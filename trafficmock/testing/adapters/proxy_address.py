"""The coordinator's address, and the error when no proxy answers there."""

from urllib.parse import urlsplit, urlunsplit

from trafficmock.redaction import without_credentials
from trafficmock.testing.errors import ConnectionLostError, UsageError


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
        f"no trafficmock proxy at {without_credentials(proxy_url)}: {error}. "
        "Start one with `trafficmock serve`, or say where it is with TRAFFICMOCK_PROXY_URL."
    )
