"""A command that takes too long leaves nobody behind."""

import os
import select
import subprocess

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.process_group import kill_group, run_group


class RunGroupTests(SynchronousTestCase):
    """Commands in groups."""

    def test_ends(self) -> None:
        """Status and output are given."""
        done = run_group(["sh", "-c", "echo out; echo err >&2; exit 3"], 30)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "out\n", "err\n"))

    def test_time_is_up(self) -> None:
        """A child of the command ends with it."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        command = ["sh", "-c", "sleep 300 >/dev/null 2>&1 & wait"]
        with self.assertRaises(subprocess.TimeoutExpired):
            run_group(command, 0.1, pass_fds=[writer])
        os.close(writer)
        self.assert_released(reader)

    def test_leader_has_ended(self) -> None:
        """What a command left behind is killed; without any left, nothing is done."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        command = ["sh", "-c", "sleep 300 >/dev/null 2>&1 &"]
        with subprocess.Popen(command, pass_fds=[writer], start_new_session=True) as process:
            os.close(writer)
            process.wait()
            kill_group(process)
            self.assert_released(reader)
            kill_group(process)

    def assert_released(self, reader: int) -> None:
        """Check that nobody holds the other side of a pipe."""
        # Readable at its end only, which is there when nobody holds the other side.
        readable, _, _ = select.select([reader], [], [], 20)
        self.assertEqual(readable, [reader])
        self.assertEqual(os.read(reader, 1), b"")
