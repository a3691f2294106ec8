"""A program and all it starts, in a session of processes of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

from attrs import define
from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.python.test_services import clean, python
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import free_port, running_proxy
from tests.support.waiting import wait_until
from trafficmock.attach.python_preload import DIRECTORY
from trafficmock.testing import sync
from trafficmock.testing.sync import TrafficMock

SECONDS = 60.0
_SESSION_OF_STAT = 3
"""The place of the session's id, behind the name of the program (``man 5 proc``)."""


@define
class AttachedSession:
    """A program that runs attached.

    :param folder: has its files ``out`` and ``err``.
    """

    process: subprocess.Popen[bytes]
    folder: Path

    @classmethod
    def start(
        cls, words: Sequence[str], folder: Path, proxy_url: str, interpreter: str = ""
    ) -> AttachedSession:
        """Start a program in a folder, with nothing of ours but the preload.

        :param interpreter: by default that of the environment with the clients.
        """
        preload = {"TRAFFICMOCK_PROXY_URL": proxy_url, "PYTHONPATH": str(DIRECTORY)}
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            process = subprocess.Popen(
                [interpreter or python(), *words],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                env={**clean(), **preload, "PYTHONDONTWRITEBYTECODE": "1"},
            )
        return cls(process, folder)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(errors="replace")

    def members(self) -> list[int]:
        """List the processes of the session that live."""
        found: list[int] = []
        for entry in Path("/proc").iterdir():
            with suppress(OSError, ValueError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[_SESSION_OF_STAT]) == self.process.pid and fields[0] != "Z":
                    found.append(int(entry.name))
        return found

    def end(self, number: int = signal.SIGINT) -> list[int]:
        """End the program as a terminal does.

        :returns: the processes that it leaves behind after some seconds.
        """
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)
        until(lambda: self.process.poll() is not None, "the end of the program", self)
        with suppress(AssertionError):
            wait_until(lambda: not self.members(), "the end of its children", seconds=SECONDS / 4)
        return self.members()

    def kill(self) -> None:
        """Leave nothing behind."""
        for member in self.members():
            with suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)
        self.process.wait(SECONDS)


def until(ask: Callable[[], bool], what: str, session: AttachedSession) -> None:
    """Wait for something that processes bring about."""
    try:
        wait_until(ask, what, seconds=SECONDS)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{session.read('err')}") from None


def processes_in(folder: Path) -> list[int]:
    """List the processes that run in a folder; a session of their own does not hide them."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and (entry / "cwd").readlink() == folder:
                found.append(int(entry.name))
    return found


def kill_processes(folder: Path) -> None:
    for process in processes_in(folder):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


class SessionCase(SynchronousTestCase):
    """A proxy, tests, and a program in a folder of its own.

    :cvar interpreter: what runs the program, the usual one if it is empty.
    """

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    interpreter = ""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir()
        authority = str(self.folder.with_suffix(".ca"))
        self.proxy = self.enterContext(running_proxy("--ca-dir", authority))
        self.port = free_port()

    def mocks(self, text: str) -> TrafficMock:
        """Make a test that answers what asks for ``http://third.test/``."""
        mocks = self.enterContext(sync.mocks(self.proxy.url))
        mocks.route("http://third.test/**", lambda route: route.fulfill(body=text))
        return mocks

    def start(self, *words: str) -> AttachedSession:
        session = AttachedSession.start(words, self.folder, self.proxy.url, self.interpreter)
        self.addCleanup(session.kill)
        return session

    def load(self, mocks: TrafficMock | None, path: str = "/page") -> str:
        """Load a page of the program as the browser of a test does; what fails is no text."""
        headers: Any = {} if mocks is None else mocks.headers
        request = Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        try:
            with build_opener(ProxyHandler({})).open(request, timeout=SECONDS) as answer:
                return str(answer.read().decode())
        except OSError:
            return ""
