"""The command ``trafficmock`` that lists what its coordinator holds on SIGUSR2.

``TEST_TABLES`` names the file that it writes.
"""

import gc
import json
import os
import signal
from pathlib import Path

from tests.support.tables import tables
from trafficmock.cli import main
from trafficmock.core.coordinator import Coordinator


def write_tables(*_: object) -> None:
    """Write the tables of the only coordinator; the file is there once it is complete."""
    # The collector does not list what start-up has frozen.
    gc.unfreeze()
    (coordinator,) = (each for each in gc.get_objects() if type(each) is Coordinator)
    path = Path(os.environ["TEST_TABLES"])
    part = path.with_suffix(".part")
    part.write_text(json.dumps(tables(coordinator)), encoding="utf-8")
    part.rename(path)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR2, write_tables)
    main()
