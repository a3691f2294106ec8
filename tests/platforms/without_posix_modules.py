"""Imports all modules of the product, or runs the unit tests, without what Windows does not have.

Without an argument it prints one JSON line: each module that could not be imported, with the
reason. With ``tests`` and a directory it runs the unit tests, also without ``os.fork``.
"""

import importlib
import json
import os
import pkgutil
import sys
from types import ModuleType

# The reactor of this platform is made first: it needs fcntl, that of Windows does not.
import twisted.internet.reactor  # noqa: F401, TID251 - see above
from twisted.scripts import trial

from tests.unit import reaches, unit_modules

MISSING = ("fcntl", "grp", "pwd", "resource", "syslog", "termios", "tty")
"""Modules of POSIX (https://docs.python.org/3/library/unix.html)."""

PROGRAMS = ("trafficmock.__main__", "trafficmock.testing.launch.leased_proxy")
"""Modules that run something as soon as they are imported, or change ``sys.argv``."""


def remove() -> None:
    """Take away the modules of POSIX."""
    # It imports fcntl unless the platform is Windows, where it has its own module for locks.
    locks = ModuleType("portalocker")
    locks.__dict__.update(lock=lambda *_: None, LOCK_EX=1, LOCK_SH=2)
    sys.modules["portalocker"] = locks
    for name in MISSING:
        sys.modules[name] = None  # type: ignore[assignment] # how an import is made to fail


def import_all() -> None:
    import trafficmock  # noqa: PLC0415 - after the modules are gone

    failed = {}
    names = [each.name for each in pkgutil.walk_packages(trafficmock.__path__, "trafficmock.")]
    for name in names:
        if name in PROGRAMS or name.startswith("trafficmock.attach.python"):
            continue
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - it is reported
            failed[name] = repr(error)
    sys.stdout.write(json.dumps({"modules": len(names), "failed": failed}) + "\n")


def run_tests(directory: str) -> None:
    """Run the unit tests that do not need a module of POSIX themselves; without a fork."""
    names = [name for name in unit_modules() if not reaches(name, set(MISSING))]
    del os.fork, os.forkpty
    sys.argv = ["trial", f"--temp-directory={directory}", *names]
    trial.run()


def main() -> None:
    remove()
    if sys.argv[1:2] == ["tests"]:
        run_tests(sys.argv[2])
    else:
        import_all()


if __name__ == "__main__":
    main()
