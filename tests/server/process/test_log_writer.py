"""A log whose reader does not read holds nobody up, and loses what it says it loses."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY, TWISTD, get, until
from trafficmock.server.process import log_writer
from trafficmock.server.process.log_writer import LOG_BUFFER_BYTES, LogWriter, may_wait

LONG = "x" * (LOG_BUFFER_BYTES // 4 - 1) + "\n"
"""A line that fits into the buffer four times, and into no pipe."""


class WriterTests(SynchronousTestCase):
    """The writer at a pipe."""

    def setUp(self) -> None:
        reader, writer = os.pipe()
        self.read = os.fdopen(reader, "r")
        self.stream = os.fdopen(writer, "w")
        self.addCleanup(self.read.close)
        self.addCleanup(self.stream.close)
        self.writer = LogWriter(self.stream)
        self.writer.dropped = lambda number: self.writer.write(f"{number} dropped\n")

    def test_order(self) -> None:
        """Lines come as they were written, after what the stream itself kept back."""
        self.stream.write("before\n")
        for number in range(3):
            self.writer.write(f"{number} \N{EURO SIGN}\n")
        self.writer.finish()
        lines = [self.read.readline() for _ in range(4)]
        self.assertEqual(lines, ["before\n", *(f"{n} \N{EURO SIGN}\n" for n in range(3))])

    def test_dropped(self) -> None:
        """Lines beyond the buffer are counted, and the count comes once all before it were read."""
        for _ in range(7):
            self.writer.write(LONG)
        for _ in range(4):
            self.assertEqual(self.read.readline(), LONG)
        self.assertEqual(self.read.readline(), "3 dropped\n")
        self.writer.write("after\n")
        self.writer.finish()
        self.assertEqual(self.read.readline(), "after\n")

    def test_reader_gone(self) -> None:
        """Without a reader lines are nobody's, and nothing waits or fails."""
        self.writer.write(LONG)
        self.read.close()
        self.writer.finish()
        self.writer.write("after\n")
        self.writer.finish()

    def test_end_without_reader(self) -> None:
        """The end waits only for so long, for all last lines together."""
        self.patch(log_writer, "LAST_LINES_SECONDS", 0.05)
        self.writer.write(LONG)
        began = time.monotonic()
        self.writer.finish()
        for _ in range(3):
            self.writer.write("last words\n")
        self.assertLess(time.monotonic() - began, log_writer.LAST_LINES_SECONDS + 5)
        # The thread must be done before its descriptor is another test's.
        lines = [self.read.readline() for _ in range(4)]
        self.assertEqual(lines, [LONG, *["last words\n"] * 3])

    def test_not_blocking(self) -> None:
        """A pipe that another process made non-blocking loses nothing."""
        os.set_blocking(self.stream.fileno(), False)
        self.writer.write(LONG)
        self.assertEqual(self.read.readline(), LONG)
        self.writer.finish()

    def test_interrupted_start(self) -> None:
        """A closed stream ends the writer."""
        with patch.object(log_writer, "_write", side_effect=ValueError("closed")):
            self.writer.write("one\n")
            self.writer.finish()
        self.writer.write("two\n")
        self.writer.finish()

    def test_may_wait(self) -> None:
        """Pipes and terminals have readers, files and objects in memory have none."""
        self.assertTrue(may_wait(self.stream))
        self.assertFalse(may_wait(StringIO()))
        with Path(self.mktemp()).open("w") as file:
            self.assertFalse(may_wait(file))


class ServiceTests(SynchronousTestCase):
    """The service itself, with a pipe that nobody reads."""

    def test_refusals(self) -> None:
        """It answers however much it has to say, and its last line is there in the end."""
        ready = Path(self.mktemp()).resolve()
        process = subprocess.Popen(
            (
                *(*TWISTD, "-n", "--pidfile=", "trafficmock", "--port", "0"),
                *("--log-level", "debug", "--strict", "--ready-file", str(ready)),
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=REPOSITORY,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        until(ready.exists, process, ready)
        url = json.loads(ready.read_text())["url"]
        proxied = urllib.request.build_opener(urllib.request.ProxyHandler({"http": url}))
        for number in range(40):
            with self.assertRaises(urllib.error.HTTPError):
                proxied.open(f"http://news.example/{number}/{'x' * 8000}", timeout=20)
        self.assertTrue(get(f"{url}/health")["ok"])
        process.terminate()
        output, _ = process.communicate(timeout=20)
        self.assertGreater(len(output), 2**16)
        self.assertIn("Server Shut Down.", output.decode().splitlines()[-1])
