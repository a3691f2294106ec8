"""Tests that last, of applications with a child: one for all workers, and one of each worker.

Each process writes its id, and those of the applications.
"""

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

STARTS_A_CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("child", child.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="session")
def applications(trafficmock_app: Any) -> list[Any]:
    command, ready = [sys.executable, "-c", STARTS_A_CHILD], re.compile(r"child (\d+)")
    return [trafficmock_app(command, ready=ready, shared=shared) for shared in (True, False)]


@pytest.mark.parametrize("number", range(2))
def test_lasting(applications: list[Any], number: int) -> None:
    shared, own = ([each.pid, int(each.url)] for each in applications)
    written = Path(os.environ["SEEN"], f"{number}.new")
    written.write_text(json.dumps({"worker": os.getpid(), "shared": shared, "own": own}))
    written.rename(written.with_suffix(".json"))
    time.sleep(float(os.environ["LASTS"]))
