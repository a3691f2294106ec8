"""Which browser the tests run in."""

from pathlib import Path
from typing import Any

import pytest

DEBIAN = Path("/usr/bin/chromium")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Take Debian's Chromium where there is one; otherwise Playwright's own."""
    if not DEBIAN.exists():
        return browser_type_launch_args
    # Root, as in containers, has no use of the sandbox.
    return {**browser_type_launch_args, "executable_path": str(DEBIAN), "args": ["--no-sandbox"]}
