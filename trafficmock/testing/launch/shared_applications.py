"""One application for all workers of a pytest run: the first that needs it starts it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field

from trafficmock.file_locks import exclusive_lock
from trafficmock.testing.errors import ApplicationError
from trafficmock.testing.launch import lease, processes
from trafficmock.testing.launch.application import Application, Launch
from trafficmock.testing.launch.leased_application import Order, status_file
from trafficmock.testing.launch.output_files import OutputFiles
from trafficmock.testing.shared_directory import APPLICATION, running_applications
from trafficmock.whole_files import write_whole

if TYPE_CHECKING:
    import pytest

_LEASE = "trafficmock-app.lease"
_POLL_SECONDS = 0.05
_NUMBERS = count()
_HOLDERS: list[subprocess.Popen[str]] = []
"""The programs that run the applications; they end after this process."""


@define(eq=False)
class LeasedProcess:
    """The process of an application that another process has started.

    :param output: the path of the files of its output, without their numbers.
    """

    pid: int
    output: Path
    returncode: int | None = field(init=False, default=None)

    def poll(self) -> int | None:
        """Return its status if it has ended."""
        written = status_file(self.output)
        if self.returncode is None and written.exists() and (text := written.read_text()):
            self.returncode = int(text)
        return self.returncode


def get(folder: Path, launch: Launch, number: int) -> Application:
    """Return an application of the run; it is started if no worker has, or if it has ended.

    One that does not start is started once: all workers get the same error, at once.

    :param folder: the directory that all workers share.
    :param number: how many of the same arguments this worker has started before.
    :raises ApplicationError: it does not start.
    """
    key = hashlib.sha256(f"{_described(launch)} {number}".encode()).hexdigest()[:16]
    state = folder / f"{APPLICATION}{key}.json"
    with exclusive_lock(state.with_suffix(".lock")):
        lease.hold(folder / _LEASE)
        if state.exists():
            known = json.loads(state.read_text())
            if "error" in known:
                raise ApplicationError(known["error"])
            application = _application(launch, known["pid"], folder / known["output"])
            application.url = known["url"]
            if not application.has_ended():
                application.mark()
                return application
        output = f"{state.stem}-{os.getpid()}-{next(_NUMBERS)}"
        try:
            application = _started(launch.with_port(), folder, output)
        except ApplicationError as error:
            write_whole(state, json.dumps({"error": str(error)}).encode())
            raise
        known = {"pid": application.pid, "url": application.url, "output": output}
        write_whole(state, json.dumps(known).encode())
        return application


def wait_for_ends(config: pytest.Config) -> None:
    """Wait until the applications of the run have ended, as they do after its last worker."""
    deadline = time.monotonic() + 2 * processes.STOP_SECONDS
    while running_applications(config) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


def _described(launch: Launch) -> str:
    ready = launch.ready.pattern if isinstance(launch.ready, re.Pattern) else launch.ready
    parts: list[Any] = [launch.words, ready, launch.client_id, launch.agent, launch.forward_proxy]
    parts += [os.fspath(launch.cwd or ""), sorted((launch.env or {}).items())]
    parts.append(None if launch.proxy is None else launch.proxy.url)
    return json.dumps(parts)


def _application(launch: Launch, pid: int, output: Path) -> Application:
    process, written = LeasedProcess(pid, output), OutputFiles(output)
    return Application(process, written, launch.command, launch.client_id, launch.proxy)


def _started(launch: Launch, folder: Path, output: str) -> Application:
    launch.check_free()
    order: Order = {
        "words": launch.words,
        "environment": launch.environment(),
        "cwd": None if launch.cwd is None else os.fspath(launch.cwd),
        "lease": str(folder / _LEASE),
        "output": str(folder / output),
    }
    holder = subprocess.Popen(
        [sys.executable, "-m", "trafficmock.testing.launch.leased_application"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **processes.own_group(),
    )
    _HOLDERS.append(holder)
    said = _ask(holder, order)
    if "pid" not in said:
        why = said.get("error", "no answer")
        raise ApplicationError(f"cannot start `{launch.shown_command}`: {why}")
    application = _application(launch, said["pid"], folder / output)
    try:
        application.wait_until_ready(launch.ready, launch.timeout)
    except BaseException:
        # Also if the wait is interrupted, as by pytest-timeout: nobody else would know of it.
        processes.kill_group(application.pid)
        raise
    return application


def _ask(holder: subprocess.Popen[str], order: Order) -> dict[str, Any]:
    """Give the program its order, and return its answer; empty if it ended without one."""
    if holder.stdin is None or holder.stdout is None:
        return {}
    with suppress(BrokenPipeError), holder.stdin as asked:
        asked.write(json.dumps(order) + "\n")
    with holder.stdout as said:
        line = said.readline()
    answer: dict[str, Any] = json.loads(line) if line else {}
    return answer
