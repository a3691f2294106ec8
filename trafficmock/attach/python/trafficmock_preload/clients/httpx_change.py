"""Changes httpx: its proxies, and the class of the errors for requests that nobody decides."""

from __future__ import annotations

import sys

from trafficmock_preload.clients.environment_proxies import change_transports
from trafficmock_preload.failure_errors import TrafficMockError, of_library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.proxy_tunnel import Tunnels


def change_httpx(module: ModuleType, tunnels: Tunnels, transport: str) -> None:
    """Raise a ``TransportError`` for the errors that httpcore does not know."""
    change_transports(module, tunnels, transport)
    names: Any = module.__dict__
    exception = sys.modules[f"{module.__package__}._exceptions"].__dict__["TransportError"]
    client, async_client = names["Client"], names["AsyncClient"]
    send, async_send = client._send_single_request, async_client._send_single_request

    def send_single_request(self: Any, request: Any) -> Any:
        try:
            return send(self, request)
        except TrafficMockError as error:
            raise _made(error, exception, request) from None

    async def async_send_single_request(self: Any, request: Any) -> Any:
        try:
            return await async_send(self, request)
        except TrafficMockError as error:
            raise _made(error, exception, request) from None

    client._send_single_request = send_single_request
    async_client._send_single_request = async_send_single_request


def _made(error: TrafficMockError, exception: Any, request: Any) -> Exception:
    made: Any = of_library(error, exception)
    made.request = request
    return made  # type: ignore[no-any-return]
