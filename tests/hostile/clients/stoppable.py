"""A test worker in a process of its own, which is stopped or stops itself.

``python -m tests.hostile.clients.stoppable URL ask`` registers a route that must be asked, with
``tell`` one that needs no question; it never answers anything but heartbeats. With ``claim``,
``fetch`` or ``socket`` it takes part up to there, and then stops its own process: it claims a
request, asks for a fetch, or claims a WebSocket.
"""

import json
import os
import signal
import sys
from typing import Any

from tests.support.raw_client import RawClient

NAME = "stopped"
ASKED = ("ask", "claim", "socket")
_MATCHES = {"testId": NAME, "matches": [{"routeId": NAME}]}


def main(url: str, how: str) -> None:
    """Register, say so in one line, and take part until the connection ends."""
    client = RawClient.connect(url)
    client.hello("playwright", clientId=NAME)
    client.send(type="test:register", testId=NAME, title="stopped", file="stop.ts", workerId="9")
    matcher = {"clientIds": [NAME], "predicate": how in ASKED}
    kind = "websocket" if how == "socket" else "http"
    client.send(type="route:register", routeId=NAME, testId=NAME, matcher=matcher, kind=kind)
    while client.receive()["type"] != "route:registered":
        pass
    sys.stdout.write(json.dumps({"ready": True}) + "\n")
    sys.stdout.flush()
    while True:
        answer(client, client.receive(), how)


def answer(client: RawClient, message: dict[str, Any], how: str) -> None:
    """Take part in one step."""
    match message["type"], how:
        case "ping", _:
            client.send(type="pong", at=message["at"])
        case "request:claim", "claim":
            client.send(type="request:claim-result", requestId=message["requestId"], **_MATCHES)
        case "ws:claim", "socket":
            client.send(type="ws:claim-result", socketId=message["socketId"], **_MATCHES)
        case "request:matched", "fetch":
            fetch = {"action": "fetch", "fetchId": "f"}
            client.send(type="handler:result", requestId=message["requestId"], result=fetch)
            stop()
        case ("request:matched", "claim") | ("ws:matched", "socket"):
            stop()


def stop() -> None:
    """Stop this process, as a debugger would."""
    os.kill(os.getpid(), signal.SIGSTOP)


if __name__ == "__main__":
    main(*sys.argv[1:])
