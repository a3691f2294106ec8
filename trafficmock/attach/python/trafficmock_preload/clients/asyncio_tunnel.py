"""Opens tunnels for clients on an event loop of asyncio."""

from __future__ import annotations

from trafficmock_preload.proxy_tunnel import MOST_BYTES, TunnelAnswer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any

    from trafficmock_preload.proxy_tunnel import Tunnels


async def open_tunnel(
    loop: Any, host: str, port: int, tunnels: Tunnels, demands: bytes = b""
) -> tuple[socket.socket, bytes | None]:
    """Open a tunnel on a non-blocking socket.

    :param demands: see :func:`~trafficmock_preload.demanded_trust.demand_lines`.
    :returns: the socket, and the proxy's authority in DER; ``None`` if the proxy does not read
        the tunnel.
    :raises OSError: if the proxy cannot be reached, or refuses the tunnel.
    """
    import socket

    try:
        family, kind, number, _, address = (
            await loop.getaddrinfo(*tunnels.proxy(), type=socket.SOCK_STREAM)
        )[0]
        opened = socket.socket(family, kind, number)
    except OSError as error:
        raise tunnels.unreachable(error) from error
    try:
        opened.setblocking(False)
        try:
            await loop.sock_connect(opened, address)
        except OSError as error:
            raise tunnels.unreachable(error) from error
        await loop.sock_sendall(opened, tunnels.request(host, port, demands))
        answer = TunnelAnswer(tunnels)
        while not answer.add(await loop.sock_recv(opened, MOST_BYTES)):
            continue
    except BaseException:
        opened.close()
        raise
    tunnels.tell_unread(host, port, demands, answer.authority)
    return opened, answer.authority
