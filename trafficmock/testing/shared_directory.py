"""The directory that the workers of one pytest run share.

Every run with the plugin calls this module at its end, even without mocks, so it imports nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

APPLICATION = "trafficmock-app-"
"""The beginning of the names of the files of applications."""

_STATE = "trafficmock-proxy.json"


def directory(config: pytest.Config) -> Path:
    """Return a directory that all workers of this run share, and no other run."""
    # pytest has no public access to it outside of fixtures; xdist's documentation does the same.
    base: Path = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # noqa: SLF001
    return base.parent if hasattr(config, "workerinput") else base


def state_file(config: pytest.Config) -> Path:
    """Return the path of the JSON file with the address of the proxy that this run started."""
    return directory(config) / _STATE


def running_applications(config: pytest.Config) -> list[Path]:
    """Return the files that the applications of this run keep while they run."""
    return [*directory(config).glob(f"{APPLICATION}*.running")] if _is_made(config) else []


def has_proxy(config: pytest.Config) -> bool:
    """Return whether this run started a proxy, without making the directory."""
    return _is_made(config) and state_file(config).exists()


def _is_made(config: pytest.Config) -> bool:
    factory: Any = getattr(config, "_tmp_path_factory", None)
    return factory is not None and getattr(factory, "_basetemp", None) is not None
