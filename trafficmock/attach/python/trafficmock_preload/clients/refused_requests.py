"""Changes requests and httpx: their proxies, and the class of the errors for refused requests."""

from __future__ import annotations

import sys

from trafficmock_preload.clients.environment_proxies import change_select_proxy, change_transports
from trafficmock_preload.failure_errors import TrafficMockError, of_library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.proxy_tunnel import Tunnels


def change_requests(module: ModuleType, tunnels: Tunnels, transport: str) -> None:
    """Raise a ``RequestException`` for a refused request, which is no error of urllib3.

    It is no ``ConnectionError``, after which libraries repeat a request.
    """
    change_select_proxy(module, tunnels, transport)
    adapter: Any = module.__dict__["HTTPAdapter"]
    exception = sys.modules[f"{module.__package__}.exceptions"].__dict__["RequestException"]
    original = adapter.send

    def send(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, request, *args, **kwargs)
        except TrafficMockError as error:
            made: Any = of_library(error, exception)
            made.request = request
            raise made from None

    adapter.send = send


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
