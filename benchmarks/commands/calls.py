"""
``calls``: how many functions of the proxy a request calls, in how many files.

The service runs in this process, with ``sys.setprofile`` for the thread of its reactor. A trip is
what one event, such as arrived bytes, runs until the reactor has control again. Only frames of
``trafficmock`` count, without those that read and write WebSocket frames.
"""

from __future__ import annotations

import json
import socket
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from attrs import define, field

import trafficmock
from benchmarks.errors import BenchmarkError
from benchmarks.forward.loads import MOCKED_HOST
from benchmarks.forward.mocker import Mocker
from benchmarks.generator.event_loop import EventLoop
from benchmarks.generator.loads import LOADS
from benchmarks.generator.session import Session
from benchmarks.report import table

_OWN = str(Path(trafficmock.__file__).parent) + "/"
_FRAMES = f"{_OWN}server/websocket/"
_WARM_UP = 20
_SECONDS = 30.0
_QUIET_SECONDS = 0.1
"""After an answer: work that the proxy put off counts, too."""

_FORWARD = "forward-proxied POST"
_LOADS = {load.title: load for load in LOADS if load.name in {"passthrough", "one-route"}}
_BODY = b'{"amount":1200}'
_POST = (
    f"POST http://{MOCKED_HOST}/charges HTTP/1.1\r\nhost: {MOCKED_HOST}\r\n"
    f"content-type: application/json\r\ncontent-length: {len(_BODY)}\r\n\r\n"
).encode() + _BODY


@define
class Trip:
    """What one event ran.

    :param calls: file and name of each function, in order.
    """

    calls: list[tuple[str, str]] = field(factory=list)

    @property
    def files(self) -> int:
        """The number of files whose functions were called."""
        return len({file for file, _ in self.calls})

    @property
    def moves(self) -> int:
        """How often a call came after one of another file."""
        files = [file for file, _ in self.calls]
        return sum(one != other for one, other in pairwise(files))


@define
class CallRecorder:
    """Records trips of the thread that sets it as its profile function, while it is on."""

    is_on: bool = False
    trips: list[Trip] = field(factory=list)
    _depth: int = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call, as ``sys.setprofile`` reports it."""
        code = frame.f_code
        if not code.co_filename.startswith(_OWN) or code.co_filename.startswith(_FRAMES):
            return
        if event == "call":
            if self.is_on:
                if self._depth == 0:
                    self.trips.append(Trip())
                name = (code.co_filename.removeprefix(_OWN), code.co_qualname)
                self.trips[-1].calls.append(name)
            self._depth += 1
        elif event == "return":
            self._depth = max(self._depth - 1, 0)

    def taken(self) -> list[Trip]:
        """Return the trips, and forget them."""
        trips, self.trips = self.trips, []
        return trips


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    parser.add_argument("--show", action="store_true", help="list the functions of each trip")


def run(options: Namespace) -> bool:
    """Count, print the table, and return that nothing failed."""
    from twisted.internet import reactor  # noqa: PLC0415, TID251 - the service runs in this process

    from trafficmock.tap import Options, makeService  # noqa: PLC0415 - it takes the reactor

    recorder = CallRecorder()
    found: dict[str, list[Trip]] = {}
    failed: list[Exception] = []
    running: Any = reactor
    with tempfile.TemporaryDirectory() as directory:
        ready, settings = Path(directory) / "ready.json", Options()
        settings.parseOptions(["--port", "0", "--ready-file", str(ready), "--ca-dir", directory])
        service = makeService(settings)
        service.privilegedStartService()
        service.startService()

        def measure() -> None:
            try:
                _measure(ready, recorder, found)
            except Exception as error:  # noqa: BLE001 - raised again below
                failed.append(error)
            running.callFromThread(running.stop)

        running.callWhenRunning(threading.Thread(target=measure, daemon=True).start)
        sys.setprofile(recorder)
        running.run()
        sys.setprofile(None)
        for error in failed:
            raise error
    _print(found, show=options.show)
    return True


def _measure(ready: Path, recorder: CallRecorder, found: dict[str, list[Trip]]) -> None:
    """Send the requests, from a thread of its own, and note the trips of each kind."""
    while not ready.exists():
        time.sleep(0.01)
    address = ("127.0.0.1", urlsplit(json.loads(ready.read_text())["url"]).port or 0)
    for number, (title, load) in enumerate(_LOADS.items()):
        loop = EventLoop()
        session = Session(loop, address, load)
        # One more than in the session before: the next request has the id of no earlier one.
        session.run(_WARM_UP + number, _SECONDS)
        recorder.is_on = True
        session.run(1, _SECONDS)
        loop.run_for(_QUIET_SECONDS)
        recorder.is_on = False
        found[title] = recorder.taken()
        session.close()
    loop = EventLoop()
    mocker = Mocker(loop, address)
    with socket.create_connection(address) as client:
        for number in range(_WARM_UP):
            recorder.is_on = number == _WARM_UP - 1
            client.sendall(_POST)
            loop.run_for(_QUIET_SECONDS)
            if not client.recv(65536).startswith(b"HTTP/1.1 200 "):
                raise BenchmarkError("the forward proxy did not answer with the mock")
    recorder.is_on = False
    found[_FORWARD] = recorder.taken()
    mocker.close()


def _print(found: dict[str, list[Trip]], *, show: bool) -> None:
    rows = []
    for title, trips in found.items():
        for trip in trips:
            name = trip.calls[0][1]
            rows.append([title, name, str(len(trip.calls)), str(trip.files), str(trip.moves)])
            if show:
                print(f"\n{title}: {name}")
                print("\n".join(f"  {file}: {each}" for file, each in trip.calls))
    print(table(("request", "begins with", "calls", "files", "moves"), rows))
