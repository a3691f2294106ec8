"""Connects to ``/ws`` of a proxy as an agent does, to check that the proxy accepts the token."""

from __future__ import annotations

import json
import os
import socket
import ssl

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, Request, TextMessage
from wsproto.utilities import ProtocolError

from trafficmock import __version__
from trafficmock.attach.process_mark import own_mark
from trafficmock.attach.proxy_variables import ProxyAddress
from trafficmock.attach.rest_probe import ANSWER_SECONDS, MOST_BYTES, AttachError
from trafficmock.wire import PROTOCOL_VERSION

_READ_BYTES = 65536


def check_welcome(address: ProxyAddress) -> None:
    """Check that the proxy answers ``hello`` without an error (protocol 3).

    Other failures, such as that of the connection, are ignored: the agent tries again itself.

    :raises AttachError: if the token is missing or wrong, or the protocol versions differ.
    """
    try:
        answer = _greet(address)
    except (OSError, ProtocolError, ValueError):
        return
    if answer.get("type") != "hello:error":
        return
    place = f"the proxy at {address.scheme}://{address.authority}"
    if answer.get("code") != "unauthorized":
        raise AttachError(f"{place} refuses agents: {answer.get('message')}")
    what = "wants a token" if address.token is None else "does not accept this token"
    raise AttachError(
        f"{place} {what}: give the one that it was started with, by --token or TRAFFICMOCK_TOKEN"
    )


def _greet(address: ProxyAddress) -> dict[str, object]:
    """Return the proxy's answer to ``hello``; an empty dict if there is none.

    :raises OSError: if the connection fails.
    :raises ProtocolError: if the answer is not a WebSocket.
    :raises ValueError: if the answer is not JSON.
    """
    hello: dict[str, object] = {
        "type": "hello",
        "protocolVersion": PROTOCOL_VERSION,
        "packageVersion": __version__,
        "role": "node",
        "clientId": address.client_id or "trafficmock run",
        "command": "trafficmock run",
        "pid": os.getpid(),
        "processMark": own_mark(),
    }
    if address.token is not None:
        hello["token"] = address.token
    connection = WSConnection(ConnectionType.CLIENT)
    heard = ""
    with _connected(address) as link:
        link.sendall(connection.send(Request(host=address.authority, target="/ws")))
        while len(heard) < MOST_BYTES and (data := link.recv(_READ_BYTES)):
            connection.receive_data(data)
            for event in connection.events():
                if isinstance(event, AcceptConnection):
                    link.sendall(connection.send(TextMessage(data=json.dumps(hello))))
                elif isinstance(event, TextMessage):
                    heard += event.data
                    if event.message_finished:
                        answer = json.loads(heard)
                        return answer if isinstance(answer, dict) else {}
    return {}


def _connected(address: ProxyAddress) -> socket.socket:
    link = socket.create_connection((address.host, address.port), timeout=ANSWER_SECONDS)
    if address.scheme == "http":
        return link
    return ssl.create_default_context().wrap_socket(link, server_hostname=address.host)
