"""Which browser the tests run in."""

from shutil import which
from typing import Any

import pytest

DEBIAN = which("chromium-headless-shell") or which("chromium")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Take Debian's Chromium where there is one; otherwise Playwright's own."""
    if DEBIAN is None:
        return browser_type_launch_args
    # Root, as in containers, has no use of the sandbox.
    return {**browser_type_launch_args, "executable_path": DEBIAN, "args": ["--no-sandbox"]}
