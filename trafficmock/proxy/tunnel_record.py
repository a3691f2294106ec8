"""A tunnel's row in the history, and its request for strict mode."""

from __future__ import annotations

import uuid

from msgspec import UNSET

from trafficmock import records
from trafficmock.http.hosts import Authority
from trafficmock.proxy.proxy_clients import ProxyClient
from trafficmock.proxy.upstream_errors import UpstreamError
from trafficmock.wire import inbound
from trafficmock.wire.payloads import body as bodies
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse


def server_name(authority: Authority) -> str:
    """Write ``host:port``, with an IPv6 address in brackets."""
    name = f"[{authority.host}]" if ":" in authority.host else authority.host
    return f"{name}:{authority.port}"


def tunnel_request(server: str, headers: dict[str, str]) -> SerializedRequest:
    """Make the request that stands for a tunnel, with the URL ``https://host:port/``.

    :param server: see :func:`server_name`.
    :param headers: the header of its CONNECT.
    """
    return SerializedRequest(f"https://{server}/", "CONNECT", headers, bodies.NULL)


def refusal(proxy_client: ProxyClient | None, request: SerializedRequest) -> str | None:
    """Record the refusal of a tunnel, if strict mode refuses it.

    :param proxy_client: the agent of the client; ``None`` in a browser proxy, which refuses
        nothing, because strict mode concerns the application's own requests.
    :returns: the reason, for people; ``None`` if the tunnel may be opened.
    """
    if proxy_client is None:
        return None
    return proxy_client.gateway.tunnels.refuse(proxy_client, str(uuid.uuid4()), request)


class TunnelRecord:
    """A tunnel's row in the history, begun by the constructor; no route matches a tunnel.

    A tunnel that is not read though no option says so is told to the core, which warns its test.

    :param proxy_client: the agent that records it.
    :param authority: ``host:port`` of its server.
    :param headers: the header of its CONNECT.
    :param why: why the proxy does not read it, though no option says so; empty for none.
    """

    def __init__(
        self, proxy_client: ProxyClient, authority: str, headers: dict[str, str], why: str = ""
    ) -> None:
        self._why = f", not read: {why}" if why else ""
        self._proxy_client = proxy_client
        self._id = str(uuid.uuid4())
        self._open = True
        request = tunnel_request(authority, headers)
        self._url = request.url
        self._is_told = bool(why)
        if self._is_told:
            observed = inbound.RequestObserve(self._id, proxy_client.client_id, request)
            proxy_client.send(observed)
        else:
            proxy_client.record(records.RequestSeen(self._id, proxy_client.client_id, request))

    def ended(self, error: UpstreamError | None = None) -> None:
        """Record the end of the tunnel; only the first call counts.

        :param error: the reason if it failed.
        """
        if not self._open:
            return
        self._open = False
        if self._is_told:
            ended = None if error is None else error.serialized()
            self._proxy_client.send(
                inbound.RequestResponse(
                    self._id,
                    ok=error is None,
                    response=self._response() if error is None else UNSET,
                    error=UNSET if ended is None else ended,
                )
            )
            return
        self._proxy_client.record(records.RequestPassedThrough(self._id))
        if error is None:
            self._proxy_client.record(records.ResponseReported(self._id, self._response(), None))
        else:
            failed = records.ResponseReported(self._id, None, error.serialized())
            self._proxy_client.record(failed)

    def _response(self) -> SerializedResponse:
        text = f"Connection established{self._why}"
        return SerializedResponse(200, text, {}, bodies.NULL, self._url)
