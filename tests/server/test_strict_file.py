"""The file that says who was strict when the process ended."""

import os
import stat
import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec import MsgspecError
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.core.ownership.kept_strictness import KeptStrictness, KeptTest
from trafficmock.matching.allow_list import AllowListError
from trafficmock.server.strict_file import (
    RESTART_SECONDS,
    TOUCH_SECONDS,
    StrictFile,
    file_name,
    read_kept,
)

NOTHING = KeptStrictness()
RUN = KeptStrictness((("auth.example",), ()))
TEST = KeptStrictness(tests=(KeptTest("a" * 32, "t1", "buys", "buys.py", ()),))


class StrictFileTests(SynchronousTestCase):
    """One process after the other."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp()) / "made" / "strict.json"
        self.clock = Clock()
        self.file = self.opened()

    def opened(self) -> StrictFile:
        """Be the next process."""
        return StrictFile(self.path, self.clock)

    def aged(self, seconds: float) -> None:
        """Let the file be older."""
        at = time.time() - seconds
        os.utime(self.path, (at, at))

    def test_kept(self) -> None:
        """The next process reads what was kept last; nobody else can read it."""
        self.assertEqual(self.file.open(), NOTHING)
        for kept in (RUN, TEST):
            self.file.keep(kept)
            self.assertEqual(self.opened().open(), kept)
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o600)
        self.file.close()

    def test_what_an_earlier_process_left(self) -> None:
        """Neither the mode nor the target of what stands in the way decides where it goes."""
        self.file.keep(RUN)
        new, other = self.path.with_suffix(".new"), self.path.with_name("other")
        other.write_text("theirs")
        new.symlink_to(other)
        self.file.keep(TEST)
        self.assertEqual((self.opened().open(), other.read_text()), (TEST, "theirs"))
        new.touch(mode=0o644)
        self.file.keep(RUN)
        self.assertEqual(stat.S_IMODE(self.path.lstat().st_mode), 0o600)
        self.file.close()

    def test_nothing(self) -> None:
        """Without anything that is strict there is no file."""
        self.file.keep(RUN)
        self.file.keep(NOTHING)
        self.assertEqual(list(self.path.parent.iterdir()), [])
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_old(self) -> None:
        """It counts for a minute after the end of the process, which touches it until then."""
        self.file.keep(RUN)
        for seconds in (RESTART_SECONDS + 1, -RESTART_SECONDS - 1):
            self.aged(seconds)
            self.assertEqual(self.opened().open(), NOTHING)
        self.clock.advance(TOUCH_SECONDS)
        self.assertEqual(self.opened().open(), RUN)
        self.file.close()
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_gone(self) -> None:
        """A file that somebody removed is written again, and not missed at the end."""
        self.file.keep(RUN)
        self.path.unlink()
        self.clock.advance(TOUCH_SECONDS)
        self.assertEqual(self.opened().open(), RUN)
        self.path.unlink()
        self.file.keep(NOTHING)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_unreadable(self) -> None:
        """A file that makes no sense is as none, and the log says so."""
        self.path.parent.mkdir(parents=True)
        for content in (b"{", b'{"runs": [["a:b:c"]]}', b"[]"):
            self.path.write_bytes(content)
            self.assertEqual(self.opened().open(), NOTHING)
        self.assertEqual(len(self.flushLoggedErrors()), 0)

    def test_no_place(self) -> None:
        """Where no file can be written the service goes on without, and tries again."""
        self.path.parent.parent.mkdir(parents=True)
        self.path.parent.write_text("a file")
        self.file.keep(RUN)
        self.clock.advance(TOUCH_SECONDS)
        self.assertEqual(self.file.open(), NOTHING)
        self.path.parent.unlink()
        self.clock.advance(TOUCH_SECONDS)
        self.assertEqual(self.opened().open(), RUN)
        self.path.unlink()
        self.path.parent.rmdir()
        self.path.parent.write_text("a file")
        self.file.keep(NOTHING)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_without(self) -> None:
        """A service on a port of its own keeps nothing."""
        file = StrictFile(None)
        file.keep(RUN)
        self.assertEqual(file.open(), NOTHING)

    def test_names(self) -> None:
        """Each address has a file of its own."""
        self.assertEqual(file_name("127.0.0.1-4100"), "strict-127.0.0.1-4100.json")
        self.assertRegex(file_name("::1-4100"), r"^strict--1-4100-\w{8}\.json$")
        self.assertRegex(file_name("unix:/run/t m.sock"), r"^strict-unix-run-t-m.sock-\w{8}\.json$")
        alike = ("unix:/a/b", "unix:/a-b", "unix-a-b")
        self.assertEqual(len({file_name(address) for address in alike}), len(alike))

    @given(st.binary())
    def test_any_bytes(self, content: bytes) -> None:
        """Anything is read, or refused by an error that is expected."""
        try:
            kept = read_kept(content)
        except (MsgspecError, AllowListError):
            return
        self.assertIsInstance(kept, KeptStrictness)
