"""Runs of trial in processes of their own: with less of a platform, or with another reactor."""

import os
import subprocess
from collections.abc import Mapping, Sequence

from tests.support.processes.proxy_process import REPOSITORY


def run_tests(
    argv: Sequence[str], variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command that runs tests, without those that take long.

    :param variables: added to the environment.
    """
    return subprocess.run(
        argv,
        cwd=REPOSITORY,
        env={**os.environ, **(variables or {}), "TRAFFICMOCK_DEEP": ""},
        capture_output=True,
        text=True,
        check=False,
    )
