"""Where the workers of one pytest run find what they share.

Every run looks here at its end, also one without mocks: so this imports nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_STATE = "trafficmock-proxy.json"


def directory(config: pytest.Config) -> Path:
    """Give a directory that all workers of this run, and no other run, have in common."""
    # The factory has no public way to it outside of fixtures; xdist's own recipe is the same.
    base: Path = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # noqa: SLF001
    return base.parent if hasattr(config, "workerinput") else base


def state_file(config: pytest.Config) -> Path:
    """Give the file that says which proxy was started for this run, if one was."""
    return directory(config) / _STATE


def has_proxy(config: pytest.Config) -> bool:
    """Tell whether a proxy was started; makes no directory for the answer."""
    factory: Any = getattr(config, "_tmp_path_factory", None)
    made = factory is not None and getattr(factory, "_basetemp", None) is not None
    return made and state_file(config).exists()
