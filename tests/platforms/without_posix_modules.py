"""Imports all modules of the product without the modules that Windows does not have.

Prints one JSON line: each module that could not be imported, with the reason.
"""

import importlib
import json
import pkgutil
import sys
from types import ModuleType

# The reactor of this platform is made first: it needs fcntl, that of Windows does not.
import twisted.internet.reactor  # noqa: F401, TID251 - see above

MISSING = ("fcntl", "grp", "pwd", "resource", "syslog", "termios", "tty")
"""Modules of POSIX (https://docs.python.org/3/library/unix.html)."""

PROGRAMS = ("trafficmock.__main__", "trafficmock.testing.launch.leased_proxy")
"""Modules that run something as soon as they are imported, or change ``sys.argv``."""


def main() -> None:
    # It imports fcntl unless the platform is Windows, where it has its own module for locks.
    locks = ModuleType("portalocker")
    locks.__dict__.update(lock=None, LOCK_EX=1, LOCK_SH=2)
    sys.modules["portalocker"] = locks
    for name in MISSING:
        sys.modules[name] = None  # type: ignore[assignment] # how an import is made to fail
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


if __name__ == "__main__":
    main()
