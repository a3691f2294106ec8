"""One proxy for all workers of a pytest run: the first that needs it starts it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import pytest

from trafficmock.file_locks import exclusive_lock
from trafficmock.testing.launch import lease
from trafficmock.testing.launch.proxy_process import Proxy, listens, start_proxy
from trafficmock.testing.shared_directory import directory, state_file
from trafficmock.whole_files import write_whole

_LOCK = "trafficmock-proxy.lock"
_LEASE = "trafficmock-proxy.lease"


def get(
    config: pytest.Config,
    token: str | None,
    allow: Iterable[str] | None = None,
    options: Sequence[str] = (),
) -> Proxy:
    """Return the proxy of the run, and start it if no worker has; it ends with the last worker.

    :param token: the token that a new proxy asks for.
    :param allow: the hosts and URL globs that a strict proxy lets through; ``None`` starts one
        that is not strict.
    :param options: more options of ``trafficmock serve`` for a new proxy.
    :raises ConnectionLostError: a new proxy does not come up; the text has its output.
    """
    folder, state = directory(config), state_file(config)
    with exclusive_lock(folder / _LOCK):
        lease.hold(folder / _LEASE)
        if state.exists():
            proxy = Proxy(**json.loads(state.read_text()))
            # The worker that started it may have crashed before this one held the lease.
            if listens(proxy.url):
                return proxy
        strict = allow is not None
        proxy = start_proxy(
            token, folder / _LEASE, strict=strict, allow=allow or (), options=options
        )
        known = {"url": proxy.url, "token": token, "pid": proxy.pid}
        write_whole(state, json.dumps(known).encode(), 0o600)
        return proxy


def stop(config: pytest.Config) -> None:
    """Stop the proxy of the run, which must have been started."""
    state = state_file(config)
    proxy = Proxy(**json.loads(state.read_text()))
    state.unlink()
    proxy.stop()
