"""Runs test runners as child processes, as a reader of the documentation would."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from tests.support.processes.child_process import Child

REPOSITORY = Path(__file__).parents[2]
APPLICATIONS = Path(__file__).parent / "applications"
PLUGIN = "trafficmock.testing.pytest_plugin"
LEAN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

PROXIES = re.compile("TRAFFICMOCK_|_PROXY", re.IGNORECASE)
"""Variables that name a proxy: ours, or one of the machine's."""


def run(*arguments: str, environment: Mapping[str, str], **options: Any) -> str:
    """Run a Python module as :func:`finish` does; give what it printed."""
    return finish(*arguments, environment=environment, **options).stdout


def finish(
    *arguments: str,
    environment: Mapping[str, str],
    cwd: Path = REPOSITORY,
    path: str = "",
    seconds: float = 240,
) -> subprocess.CompletedProcess[str]:
    """Run a Python module to its end; give what it printed, and its status.

    :param environment: added to ours, of which what names a proxy is left out.
    :param path: a folder to import from, besides the repository.
    :param seconds: how long it may take.
    """
    env = {name: value for name, value in os.environ.items() if not PROXIES.search(name)}
    env |= {"PYTHONPATH": os.pathsep.join(filter(None, (str(REPOSITORY), path)))}
    env |= environment
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        env=env,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )


def attached(proxy_url: str, command: Sequence[str], *options: str, data: str) -> Child:
    """Start an application by ``trafficmock run``; it announces its address.

    :param options: of ``trafficmock run``.
    :param data: the directory of user data, for certificates.
    """
    run = [sys.executable, "-m", "trafficmock", "run", *options, "--proxy-url", proxy_url, "--"]
    environment = {"XDG_DATA_HOME": data, "PYTHONPATH": str(REPOSITORY)}
    return Child.start("application", [*run, *command], env=environment)


def pytest() -> list[str]:
    """Name pytest with all plugins that are installed, but for pytest-playwright's second one."""
    ours = [] if _is_installed() else ["-p", PLUGIN]
    scope = ["-o", "asyncio_default_fixture_loop_scope=session"]
    return ["pytest", *ours, "-pno:playwright-asyncio", "-p", "no:cacheprovider", *scope]


def lean_pytest(*plugins: str) -> list[str]:
    """Name pytest with our plugin and only these others: most take their time to import.

    Its environment has to hold :data:`LEAN`.
    """
    named = [part for each in (PLUGIN, *plugins) for part in ("-p", each)]
    return ["pytest", *named, "-p", "no:cacheprovider"]


def _is_installed() -> bool:
    return any(each.value == PLUGIN for each in entry_points(group="pytest11"))
