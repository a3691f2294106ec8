"""Applications of tests whose processes are killed: they end, with what they have started."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.interrupts import WITH_SIGINT
from tests.support.waiting import wait_until
from tests.testing import runs

SAMPLE = str(runs.REPOSITORY / "tests/testing/runners/samples/with_children.py")
SECONDS = 60.0


class KilledRunTests(SynchronousTestCase):
    """Runs of pytest."""

    def begin(self, *plugins: str, options: tuple[str, ...] = (), lasts: float = 600) -> None:
        """Start a run, and wait until each of its workers runs a test."""
        folder = Path(self.mktemp()).resolve()
        folder.mkdir()
        own = {"SEEN": str(folder), "XDG_DATA_HOME": str(folder), "LASTS": str(lasts)}
        env = {name: text for name, text in os.environ.items() if not runs.PROXIES.search(name)}
        env |= {**runs.LEAN, **own, "PYTHONPATH": str(runs.REPOSITORY)}
        command = [
            *WITH_SIGINT,
            sys.executable,
            "-m",
            *runs.lean_pytest(*plugins),
            *options,
            SAMPLE,
        ]
        self.output = folder / "output"
        with self.output.open("w") as output:
            self.run_ = subprocess.Popen(
                command, env=env, stdout=output, stderr=output, start_new_session=True
            )
        self.addCleanup(self.run_.wait)
        self.addCleanup(self.run_.kill)
        workers = 2 if plugins else 1
        wait_until(lambda: len([*folder.glob("*.json")]) >= workers, "tests of each worker")
        self.seen = [json.loads(path.read_text()) for path in folder.glob("*.json")]
        self.applications = {pid for each in self.seen for pid in (*each["shared"], *each["own"])}

    def ends(self, pids: set[int]) -> None:
        """Wait until processes have ended."""
        wait_until(lambda: not any(map(is_running, pids)), f"the ends of {pids}", seconds=SECONDS)

    def test_alone(self) -> None:
        """A process without workers that is killed."""
        self.begin()
        self.run_.kill()
        self.ends(self.applications)

    def test_controller(self) -> None:
        """The controller of several workers, by each signal; its workers end, too."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            self.begin("xdist", options=("-n2",))
            self.run_.send_signal(number)
            self.ends(self.applications | {each["worker"] for each in self.seen})
            self.run_.wait(SECONDS)

    def test_worker(self) -> None:
        """One of two workers: its own application ends, and the run goes on to its end."""
        self.begin("xdist", options=("-n2",), lasts=10)
        killed, other = self.seen
        os.kill(killed["worker"], signal.SIGKILL)
        self.ends({*killed["own"]})
        self.assertTrue(all(map(is_running, (*other["shared"], *other["own"]))))
        self.assertEqual(self.run_.wait(SECONDS), 1)
        self.assertIn("1 failed, 1 passed", self.output.read_text())
        self.ends(self.applications)

    if not DEEP:
        for each in (test_controller, test_worker):
            each.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]


def is_running(pid: int) -> bool:
    """Tell whether a process has not ended; one whose status nobody has read has."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
