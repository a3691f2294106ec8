"""What is passed on to a supervised command, and what becomes of all that it started."""

import os
import signal
from pathlib import Path

from tests.command.supervision.supervised import SupervisionCase, lives
from tests.support.waiting import wait_until


class SignalTests(SupervisionCase):
    """Signals to the process that was started, or to all of them."""

    def test_all_of_them(self) -> None:
        """A signal reaches the command and what it started, once each."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.file.write_text("")
            process = self.start(*self.recording(number.name, "app", "below", "lowest"))
            self.ready("app", "below", "lowest")
            process.send_signal(number)
            self.assertEqual(self.ended(process), (0, ""))
            expected = {f"{name} {number.name}" for name in ("app", "below", "lowest")}
            got = [event for event in self.events() if "ready" not in event]
            self.assertEqual(sorted(got), sorted(expected))
            self.assert_gone()

    def test_user_signals(self) -> None:
        """A signal that ends whoever does not expect it is for the command alone."""
        process = self.start(*self.recording("SIGTERM", "app", "below"))
        self.ready("app", "below")
        process.send_signal(signal.SIGUSR1)
        wait_until(lambda: "app SIGUSR1" in self.events(), "the signal")
        process.send_signal(signal.SIGTERM)
        self.ended(process)
        self.assertNotIn("below SIGUSR1", self.events())

    def test_whole_group(self) -> None:
        """A signal to the whole group is not sent to it again."""
        process = self.start(*self.recording("SIGINT", "app", "below"))
        self.ready("app", "below")
        os.killpg(process.pid, signal.SIGTERM)
        wait_until(lambda: {"app SIGTERM", "below SIGTERM"} <= set(self.events()), "the signal")
        # Signals are passed on in order, so a second one would come before this.
        process.send_signal(signal.SIGINT)
        self.ended(process)
        events = self.events()
        self.assertEqual([events.count(f"{name} SIGTERM") for name in ("app", "below")], [1, 1])

    def test_only_us(self) -> None:
        """A signal that hit both of us but not the command reaches it a little later."""
        process = self.start(*self.recording("SIGTERM", "app"), stop_seconds=0.3)
        self.ready("app")
        supervisor = int(
            Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0]
        )
        for pid in (process.pid, supervisor):
            os.kill(pid, signal.SIGTERM)
        self.assertEqual(self.ended(process), (0, ""))
        self.assertEqual(self.events(), ["app ready", "app SIGTERM"])


class LeftoverTests(SupervisionCase):
    """What the command leaves behind when it ends."""

    def leave(self, *words: str, stop_seconds: float = 10.0) -> None:
        """Run a shell that starts the recording application in the background, and ends."""
        command = " ".join(self.recording(*words))
        ready = f"until grep -q ready {self.file}; do sleep 0.02; done"
        process = self.start("sh", "-c", f"{command} & {ready}; exit 3", stop_seconds=stop_seconds)
        self.assertEqual(self.ended(process), (3, ""))

    def test_ended(self) -> None:
        """It is asked to end, and then the exit status is the command's."""
        self.leave("SIGTERM", "left")
        self.assertEqual(self.events(), ["left ready", "left SIGTERM"])
        self.assert_gone()

    def test_killed(self) -> None:
        """Who does not end in time is killed."""
        self.leave("SIGUSR1", "left", "below", stop_seconds=0.2)
        self.assertIn("left SIGTERM", self.events())
        self.assert_gone()

    def test_own_group(self) -> None:
        """What has a session of its own stays: it was meant to."""
        command = " ".join(["setsid", *self.recording("SIGTERM", "daemon")])
        ready = f"until grep -q ready {self.file}; do sleep 0.02; done"
        process = self.start("sh", "-c", f"{command} >/dev/null 2>&1 & {ready}")
        self.assertEqual(self.ended(process), (0, ""))
        (pid,) = self.pids()
        self.assertTrue(lives(pid))
        self.assertEqual(self.events(), ["daemon ready"])

    def test_middle_gone(self) -> None:
        """Processes whose own parent has ended are found, too."""
        command = " ".join(self.recording("SIGTERM", "left"))
        process = self.start("sh", "-c", f"(sh -c '{command} &'); exec sleep 60")
        self.ready("left")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.ended(process), (-signal.SIGTERM, ""))
        self.assertEqual(self.events(), ["left ready", "left SIGTERM"])


class KilledTests(SupervisionCase):
    """The first process, or the supervisor, is killed."""

    def test_first(self) -> None:
        """The command is asked to end, and killed when it does not."""
        for ends_on, seconds in (("SIGTERM", 10.0), ("SIGUSR1", 0.2)):
            self.file.write_text("")
            process = self.start(*self.recording(ends_on, "app", "below"), stop_seconds=seconds)
            self.ready("app", "below")
            process.kill()
            self.assert_gone()
            self.assertIn("below SIGTERM", self.events())

    def test_supervisor(self) -> None:
        """The first process says so, and asks the command to end."""
        process = self.start(*self.recording("SIGTERM", "app", "below"))
        self.ready("app", "below")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGKILL)
        status, message = self.ended(process)
        self.assertEqual((status, message.count("\n")), (1, 1))
        self.assertIn("its supervisor was killed", message)
        self.assert_gone()
