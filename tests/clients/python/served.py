"""Run as a child, ``served.py SERVER WORD…``: it becomes a server, whose port is announced first.

``FD`` in the words stands for the descriptor of a port of loopback that listens already.
"""

import os
import sys

from tests.clients.opentelemetry.serving import listening

if __name__ == "__main__":
    port = listening()
    port.set_inheritable(True)
    words = [word.replace("FD", str(port.fileno())) for word in sys.argv[1:]]
    os.execv(sys.executable, [sys.executable, "-m", *words])  # noqa: S606 - it becomes the server
