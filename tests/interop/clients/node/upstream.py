"""The server that the libraries ask, as a process: orders to it, and its log."""

import json
import shutil
import threading
from pathlib import Path
from typing import Any, Self

from attrs import define, field

from tests.support.processes.child_process import Child, ChildError
from tests.support.processes.proxy_process import REPOSITORY

PROGRAM = Path(__file__).parent / "upstream.mjs"


@define
class Upstream:
    """
    The running server.

    :param ports: where it listens, by scheme.
    """

    child: Child
    ports: dict[str, int]
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    @classmethod
    def start(cls, certificate: Path) -> Self:
        """Start it with this certificate and key."""
        node = shutil.which("node") or "node"
        command = [node, str(PROGRAM), str(certificate)]
        child = Child.start("the server", command, env={"NODE_OPTIONS": ""}, cwd=REPOSITORY)
        return cls(child, child.announced())

    def call(self, name: str) -> None:
        """Log what comes from now on as of this call."""
        self._order({"call": name})

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask what it would answer to a request: status, headers, body and kind of the answer."""
        answer: dict[str, Any] = self._order({"ask": request})
        return answer

    def take(self) -> list[dict[str, Any]]:
        """Wait until its connections are closed; give the log of them, and begin a new one."""
        entries: list[dict[str, Any]] = self._order({"take": None})
        return entries

    def _order(self, order: dict[str, Any]) -> Any:
        stdin = self.child.process.stdin
        assert stdin is not None
        with self._lock:
            if not self.child.running():
                raise ChildError(f"the server has ended:\n{self.child.output()}")
            stdin.write(f"{json.dumps(order)}\n".encode())
            stdin.flush()
            return self.child.announced()
