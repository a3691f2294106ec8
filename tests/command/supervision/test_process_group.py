"""Finding the processes of a command."""

import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.command.supervision.process_group import Process, descendants, members, read_stat

PIDS = st.integers(1, 2**22)


class StatTests(SynchronousTestCase):
    """``/proc/PID/stat``."""

    @given(PIDS, st.text(max_size=15), st.sampled_from("RSDTZX"), PIDS, PIDS)
    def test_any_name(self, pid: int, name: str, state: str, parent: int, group: int) -> None:
        """The name of a process may hold blanks, parentheses and line ends."""
        read = read_stat(f"{pid} ({name}) {state} {parent} {group} 1 0 -1")
        self.assertEqual(read, Process(pid, parent, group, ended=state in "ZX"))


class DescendantTests(SynchronousTestCase):
    """Who belongs to a command."""

    def test_tree(self) -> None:
        """Descendants at any depth in the group, but no zombies, strangers or other groups."""
        table = [
            Process(2, 1, 1, ended=False),
            Process(3, 2, 1, ended=False),
            Process(4, 3, 4, ended=False),
            Process(5, 4, 1, ended=False),
            Process(6, 2, 1, ended=True),
            Process(7, 9, 1, ended=False),
            Process(1, 0, 1, ended=False),
        ]
        self.assertEqual(sorted(descendants(1, 1, table)), [2, 3, 5])

    def test_circle(self) -> None:
        """Process ids that are used again while the list is read do no harm."""
        circle = [Process(2, 3, 1, ended=False), Process(3, 2, 1, ended=False)]
        self.assertEqual(sorted(descendants(2, 1, circle)), [2, 3])

    def test_own(self) -> None:
        """A child of this process is found as long as it lives."""
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
            self.assertIn(child.pid, members(os.getpid()))
            child.kill()
        self.assertNotIn(child.pid, members(os.getpid()))
