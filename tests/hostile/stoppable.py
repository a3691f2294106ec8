"""A test worker in a process of its own, which can be stopped.

``python -m tests.hostile.stoppable URL ask`` registers a route that must be asked, with
``tell`` one that needs no question. It never answers anything but heartbeats.
"""

import json
import sys

from tests.raw_client import RawClient

NAME = "stopped"


def main(url: str, ask: str) -> None:
    """Register, say so in one line, and answer heartbeats until the connection ends."""
    client = RawClient.connect(url)
    client.hello("playwright", clientId=NAME)
    client.send(type="test:register", testId=NAME, title="stopped", file="stop.ts", workerId="9")
    matcher = {"clientIds": [NAME], "predicate": ask == "ask"}
    client.send(type="route:register", routeId="stopped", testId=NAME, matcher=matcher)
    while client.receive()["type"] != "route:registered":
        pass
    sys.stdout.write(json.dumps({"ready": True}) + "\n")
    sys.stdout.flush()
    while True:
        message = client.receive()
        if message["type"] == "ping":
            client.send(type="pong", at=message["at"])


if __name__ == "__main__":
    main(*sys.argv[1:])
