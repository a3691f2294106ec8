"""Run as a child, ``served.py SERVER WORD…``: it becomes a server, whose port is announced first.

In the words ``FD`` stands for the descriptor of a port of loopback that listens already, ``PORT``
for the number of one that nobody uses, ``PYTHON`` for the interpreter, and ``bin/`` for where it
is. A server without it is a module.
"""

import json
import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.interop.clients.opentelemetry.serving import listening

SECONDS = 60


def free_port() -> int:
    """Find a port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        number: int = made.getsockname()[1]
        return number


def announce(number: int) -> None:
    """Announce a port when somebody listens there, in a process that belongs to nobody."""
    if os.fork():
        os.wait()
        return
    if os.fork():
        os._exit(0)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", number)):
            sys.stdout.write(json.dumps({"port": number}) + "\n")
            sys.stdout.flush()
            break
        time.sleep(0.1)
    os._exit(0)


def words(given: list[str]) -> list[str]:
    """Put the port and the interpreter into the words."""
    values = {"PYTHON": sys.executable}
    if any("PORT" in word for word in given):
        number = free_port()
        announce(number)
        values["PORT"] = str(number)
    else:
        port = listening()
        port.set_inheritable(True)
        values["FD"] = str(port.detach())
    for name, value in values.items():
        given = [word.replace(name, value) for word in given]
    binaries = f"{Path(sys.executable).parent}/"
    return [binaries + word[4:] if word.startswith("bin/") else word for word in given]


if __name__ == "__main__":
    server, *rest = words(sys.argv[1:])
    command = [server] if Path(server).is_absolute() else [sys.executable, "-m", server]
    os.execv(command[0], [*command, *rest])  # noqa: S606 - it becomes the server
