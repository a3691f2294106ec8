"""The directory that the workers of one pytest run share.

Every run with the plugin calls this module at its end, even without mocks, so it imports nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_STATE = "trafficmock-proxy.json"


def directory(config: pytest.Config) -> Path:
    """Return a directory that all workers of this run share, and no other run."""
    # pytest has no public access to it outside of fixtures; xdist's documentation does the same.
    base: Path = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # noqa: SLF001
    return base.parent if hasattr(config, "workerinput") else base


def state_file(config: pytest.Config) -> Path:
    """Return the path of the JSON file with the address of the proxy that this run started."""
    return directory(config) / _STATE


def has_proxy(config: pytest.Config) -> bool:
    """Return whether this run started a proxy, without making the directory."""
    factory: Any = getattr(config, "_tmp_path_factory", None)
    made = factory is not None and getattr(factory, "_basetemp", None) is not None
    return made and state_file(config).exists()
