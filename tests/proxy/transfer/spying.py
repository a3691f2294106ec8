"""The messages of the forward proxy to its coordinator."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import ForwardProxyHarness
from tests.server.fakes import DriverHarness
from trafficmock.core.settings import Settings
from trafficmock.proxy.proxy_clients import ProxyClient


def spied(
    case: SynchronousTestCase, *, history: int = 0, handler: int = 0
) -> tuple[ForwardProxyHarness, list[Any]]:
    """Make a proxy with limits of bodies.

    :returns: the proxy, and the list of the messages that it will send.
    """
    settings = Settings(version="1", history_body_bytes=history, handler_body_bytes=handler)
    harness = ForwardProxyHarness(core=DriverHarness(settings))
    sent: list[Any] = []
    send = ProxyClient.send

    def spying(proxy_client: ProxyClient, message: Any) -> None:
        sent.append(message)
        send(proxy_client, message)

    case.patch(ProxyClient, "send", spying)
    return harness, sent
