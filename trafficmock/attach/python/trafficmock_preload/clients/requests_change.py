"""Changes requests: its proxies, and the class of the errors for refused requests."""

from __future__ import annotations

import sys

from trafficmock_preload.clients.environment_proxies import change_select_proxy
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
