"""A test worker to be killed and stopped: it makes its run strict, and registers tests.

It says on its stdout what it has done, and goes on with a line on its stdin.
"""

import json
import sys

from trafficmock.testing import sync
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.session.session import TestInfo


def main(url: str, allow: str) -> None:
    connection = ThreadedConnection(url)
    connection.make_run_strict([allow])
    mocks, _ = sync.begin(connection, TestInfo(title="t", file="t.py", strict=True))
    sys.stdout.write(json.dumps({"context": mocks.id}) + "\n")
    sys.stdout.flush()
    sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
