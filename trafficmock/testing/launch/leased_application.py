"""The program that runs an application for several test processes, and ends it after the last.

``python -m trafficmock.testing.launch.leased_application``, with one line of JSON on its standard
input (:class:`Order`). It answers with a line, ``{"pid": …}`` or ``{"error": …}``. The application
ends when no process holds the lease, also if the test processes are killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

from trafficmock.testing.launch import processes
from trafficmock.testing.launch.lease import wait_until_free
from trafficmock.testing.launch.output_files import OutputWriter

_CHUNK = 64 * 1024


class Order(TypedDict):
    """What to run.

    ``lease`` is the file of the lease. ``output`` is the path of the files of the output without
    their numbers, see :class:`.OutputWriter`; with ``.status`` it has the status with which the
    application ended by itself, and with ``.running`` it is there until this process ends.
    """

    words: list[str]
    environment: dict[str, str]
    cwd: str | None
    lease: str
    output: str


def main() -> None:
    """Run the application until the lease is free."""
    order: Order = json.loads(sys.stdin.readline())
    output = Path(order["output"])
    reading, writing = os.pipe()
    try:
        application = subprocess.Popen(  # noqa: S603 - the command of the tests
            order["words"],
            env=order["environment"],
            cwd=order["cwd"],
            stdin=subprocess.PIPE,
            stdout=writing,
            stderr=writing,
            **processes.own_group(),
        )
    except OSError as error:
        _answer({"error": str(error)})
        return
    os.close(writing)
    _beside(output, "running").touch()
    threading.Thread(target=_note_status, args=(application, output), daemon=True).start()
    threading.Thread(target=_write_all, args=(reading, output), daemon=True).start()
    with Path(order["lease"]).open("a") as lease:
        _answer({"pid": application.pid})
        wait_until_free(lease)
        processes.stop_group(application)
    _beside(output, "running").unlink()


def status_file(output: Path) -> Path:
    """Return the file with the status of an application that has ended by itself."""
    return _beside(output, "status")


def _beside(output: Path, kind: str) -> Path:
    return output.with_name(f"{output.name}.{kind}")


def _answer(line: dict[str, object]) -> None:
    # Its reader may have been killed.
    with suppress(BrokenPipeError):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def _note_status(application: subprocess.Popen[bytes], output: Path) -> None:
    status_file(output).write_text(str(application.wait()))


def _write_all(reading: int, output: Path) -> None:
    """Write what comes until the end, so that nobody who writes it waits."""
    writer = OutputWriter(output)
    while chunk := os.read(reading, _CHUNK):
        writer.write(chunk)
    os.close(reading)


if __name__ == "__main__":
    main()
