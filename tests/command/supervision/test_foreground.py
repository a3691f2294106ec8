"""How a supervised command ends, as its caller sees it."""

import os
import signal
import socket
from pathlib import Path
from unittest import skipUnless

from twisted.trial.unittest import SynchronousTestCase

from tests.command.supervision.supervised import SupervisionCase
from tests.support.processes.proxy_process import SECONDS
from tests.support.waiting import wait_until
from trafficmock.command.supervision.foreground import result_of


class EndTests(SupervisionCase):
    """Exit statuses and the lines beside them."""

    def test_status(self) -> None:
        """The exit status is the command's."""
        for status in (0, 1, 7, 255):
            self.assertEqual(self.ended(self.start("sh", "-c", f"exit {status}")), (status, ""))

    def test_signal(self) -> None:
        """A command that a signal ends is said to have been, in one line, and so do we end."""
        for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM):
            ended = self.ended(self.start("sh", "-c", f"kill -{number.value} $$"))
            message = f"trafficmock run: sh was ended by {number.name}\n"
            self.assertEqual(ended, (-number, message))

    def test_interrupt(self) -> None:
        """An interrupt needs no line."""
        self.assertEqual(self.ended(self.start("sh", "-c", "kill -INT $$")), (-2, ""))

    def test_asked_for(self) -> None:
        """A signal that came through us needs no line."""
        process = self.start(*self.recording("SIGUSR1", "app"), "below")
        self.ready("app", "below")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(self.ended(process), (0, ""))
        waiting = self.start("sh", "-c", f"echo sh ready $$ >> {self.file}; sleep 60")
        wait_until(lambda: "sh ready" in self.events(), "the shell")
        waiting.send_signal(signal.SIGTERM)
        self.assertEqual(self.ended(waiting), (-signal.SIGTERM, ""))

    def test_not_there(self) -> None:
        """What cannot be started ends as in a shell, with one line."""
        plain = Path(self.mktemp()).absolute()
        plain.write_text("#!/bin/sh\n")
        for command, ended in (
            ("no-such-command", (127, "no-such-command: command not found\n")),
            (f"{plain}/x", (127, f"{plain}/x: command not found\n")),
            (str(plain), (126, f"{plain}: Permission denied\n")),
            ("/", (126, "/: Permission denied\n")),
        ):
            self.assertEqual(self.ended(self.start(command)), ended)

    def test_input_and_output(self) -> None:
        """The streams are the command's own."""
        process = self.start("sh", "-c", "echo out; echo err >&2")
        out, err = process.communicate(timeout=SECONDS)
        self.assertEqual((out, err), ("out\n", "err\n"))


class ResultTests(SynchronousTestCase):
    """What the supervisor says at its end."""

    def test_unread(self) -> None:
        """A signal that it did not read any more does not take the result away."""
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        theirs.sendall(b'{"status": 15}')
        ours.sendall(bytes([signal.SIGTERM, 0]))
        theirs.close()
        self.assertEqual(result_of(ours), {"status": 15})

    def test_nothing(self) -> None:
        """Killed, it says nothing."""
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        theirs.close()
        self.assertEqual(result_of(ours), {})


class TerminalTests(SupervisionCase):
    """In the foreground of a terminal."""

    def test_interrupt_once(self) -> None:
        """Ctrl-C reaches every process of the command once."""
        pid, terminal = self.on_terminal(*self.recording("SIGTERM", "app", "below"))
        self.ready("app", "below")
        os.write(terminal, b"\x03")
        wait_until(lambda: self.events().count("below SIGINT") > 0, "the interrupt")
        # Signals are passed on in order, so a second interrupt would come before this.
        os.kill(pid, signal.SIGTERM)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.assert_gone()
        events = self.events()
        for name in ("app", "below"):
            got = [event for event in events if event.startswith(name)]
            self.assertEqual(got, [f"{name} ready", f"{name} SIGINT", f"{name} SIGTERM"])

    def test_hangup(self) -> None:
        """The end of the terminal ends the command."""
        pid, terminal = self.on_terminal(*self.recording("SIGHUP", "app", "below"))
        self.ready("app", "below")
        self.hang_up(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.assert_gone()

    def test_reads(self) -> None:
        """The command reads from the terminal as if it had been started directly."""
        pid, terminal = self.on_terminal("sh", "-c", f"read line; echo got $line >> {self.file}")
        os.write(terminal, b"words\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.assertEqual(self.file.read_text(), "got words\n")


class IgnoredTests(SupervisionCase):
    """Signals that the caller ignores."""

    @skipUnless(Path("/usr/bin/nohup").exists(), "there is no nohup here")
    def test_nohup(self) -> None:
        """What ``nohup`` ignores stays ignored, here and in the command."""
        self.argv = lambda *c, **k: ["nohup", *SupervisionCase.argv(self, *c, **k)]  # type: ignore[method-assign]
        process = self.start(*self.recording("SIGTERM", "app"))
        self.ready("app")
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.ended(process)[0], 0)
        self.assertEqual(self.events(), ["app ready", "app SIGTERM"])
