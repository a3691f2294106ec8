"""Run as a child by :mod:`benchmarks.handlers`: a handler on a reactor.

python benchmarks/twisted_handler.py PROXY_URL
"""

from __future__ import annotations

import sys
from typing import Any

from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.task import react

from trafficmock.testing import tx


async def play(reactor: Any, proxy_url: str) -> None:
    """Fulfil until the process is ended."""
    async with tx.mocks(reactor, proxy_url) as mocks:
        await mocks.route("**/mock", lambda route: route.fulfill(json={"mocked": True}))
        sys.stdout.write("{}\n")
        sys.stdout.flush()
        await Deferred()


def main(reactor: Any, proxy_url: str) -> Deferred[None]:
    """Let the reactor run the handler."""
    return ensureDeferred(play(reactor, proxy_url))


if __name__ == "__main__":
    react(main, sys.argv[1:])
