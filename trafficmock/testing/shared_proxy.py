"""One proxy for all workers of a pytest run: the first that needs it starts it."""

from __future__ import annotations

import fcntl
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trafficmock.testing import lease
from trafficmock.testing.launch import Proxy, listens, start_proxy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

_STATE = "trafficmock-proxy.json"
_LOCK = "trafficmock-proxy.lock"
_LEASE = "trafficmock-proxy.lease"


def get(config: pytest.Config, token: str | None) -> Proxy:
    """Give the run's proxy, started if no worker did; it lives as long as one of them."""
    directory = _directory(config)
    state = directory / _STATE
    with _locked(directory / _LOCK):
        lease.hold(directory / _LEASE)
        if state.exists():
            proxy = Proxy(**json.loads(state.read_text()))
            # The worker that started it may have crashed before we held the lease.
            if listens(proxy.url):
                return proxy
        proxy = start_proxy(token, directory / _LEASE)
        state.touch(mode=0o600)
        state.write_text(json.dumps({"url": proxy.url, "token": token, "pid": proxy.pid}))
        return proxy


def stop(config: pytest.Config) -> None:
    """Stop the run's proxy, if there is one."""
    factory: Any = getattr(config, "_tmp_path_factory", None)
    if factory is None or getattr(factory, "_basetemp", None) is None:
        return
    state = _directory(config) / _STATE
    if state.exists():
        proxy = Proxy(**json.loads(state.read_text()))
        state.unlink()
        proxy.stop()


def _directory(config: pytest.Config) -> Path:
    """Give a directory that all workers of this run, and no other run, have in common."""
    # The factory has no public way to it outside of fixtures; xdist's own recipe is the same.
    base: Path = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # noqa: SLF001
    return base.parent if hasattr(config, "workerinput") else base


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
