"""Which modules name what is not on all platforms."""

import re
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

import trafficmock

PRODUCT = Path(trafficmock.__file__).parent
WORDS = re.compile(
    r"/proc/|^\s*(?:import|from) (?:fcntl|grp|pwd|resource|syslog|termios|tty)\b"
    r"|\bos\.(?:fork|killpg|setsid|getuid|geteuid|fchmod|mkfifo)\b"
    r"|\bsignal\.(?:SIGKILL|SIGHUP|SIGUSR|SIGCHLD|SIGPIPE)|\bAF_UNIX\b|\bWNOHANG\b",
    re.MULTILINE,
)

ALLOWED = {
    "attach/python/trafficmock_preload/attached_process.py": "the command line, where it is told",
    "command/sealing/namespaces.py": "namespaces of Linux, and only there",
    "command/sealing/relays.py": "the same",
    "command/sealing/sealed.py": "the same",
    "certificates/files.py": "the owner of private files; Windows has none",
    "server/process/open_files.py": "the limit of open files; Windows has none",
    "server/process/systemd_notify.py": "the socket of systemd",
    "testing/launch/processes.py": "ends processes, with a branch for Windows in each function",
}


class WordTests(SynchronousTestCase):
    """A module that is not in the list works without these words."""

    def test_listed(self) -> None:
        found = {
            str(path.relative_to(PRODUCT))
            for path in PRODUCT.rglob("*.py")
            if WORDS.search(path.read_text(encoding="utf-8"))
        }
        self.assertEqual(found, set(ALLOWED))
