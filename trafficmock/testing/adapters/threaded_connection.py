"""A connection on a thread of its own, for blocking and asyncio tests."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from trafficmock import __version__
from trafficmock.attach import agent_variables
from trafficmock.testing.adapters.background_connection import BackgroundConnection
from trafficmock.testing.adapters.blocking_adapter import HandlerThreads
from trafficmock.testing.errors import ConnectionLostError
from trafficmock.testing.session.session import Session
from trafficmock.testing.session.traffic_report import traffic
from trafficmock.testing.session.worker_client import WorkerIdentity
from trafficmock.wire.features import STRICT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.testing.session.ports import Adapter
    from trafficmock.testing.session.session import TestInfo
    from trafficmock.wire.outbound import Unmatched

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""


class ThreadedConnection:
    """A connection on which tests follow one another.

    It is made anew for the next test where the proxy went away in the meantime and is back.

    :param proxy_url: where the proxy is; else what the environment says, else the default.
    :param worker_id: the index of the test worker.
    """

    def __init__(
        self,
        proxy_url: str | None = None,
        *,
        token: str | None = None,
        worker_id: str = "0",
    ) -> None:
        url = proxy_url or agent_variables.proxy_url() or agent_variables.DEFAULT_PROXY_URL
        identity = WorkerIdentity(
            version=__version__,
            worker_id=worker_id,
            token=token or agent_variables.proxy_token(),
        )
        self.handler_threads = HandlerThreads()
        self._run_allow: tuple[str, ...] | None = None
        self._has_asked = False
        self.background = BackgroundConnection(url, identity)
        self.background.open()

    def refresh(self) -> None:
        """Connect anew if the proxy does not answer on this connection any more.

        :raises ConnectionLostError: it is not there.
        :raises RefusedError: it refuses the connection.
        """
        old = self.background
        # Asked rather than looked up: the loss may not have been noticed yet.
        with contextlib.suppress(ConnectionLostError):
            old.wait_for(old.client.barrier)
            return
        new = BackgroundConnection(old.proxy_url, old.client.identity)
        new.open()
        try:
            if (allow := self._run_allow) is not None:
                new.wait_for(lambda: new.client.make_run_strict(allow))
        except BaseException:
            new.close()
            raise
        self.background = new
        # Not before: it keeps a strict run strict.
        old.close()
        if self._has_asked:
            # The proxy keeps the list as long as somebody is connected who asked for it.
            self.unmatched()

    def make_run_strict(self, allow: Iterable[str]) -> None:
        """Refuse requests that no test owns, as long as this connection lives.

        :param allow: hosts and URL globs that are allowed all the same.
        :raises UsageError: the patterns cannot be read, or the proxy knows no strict mode.
        """
        background, self._run_allow = self.background, tuple(allow)
        background.wait_for(lambda: background.client.make_run_strict(allow))

    def unmatched(self) -> Unmatched | None:
        """Ask which requests were refused that no test owns; ``None`` where it cannot be said."""
        background, self._has_asked = self.background, True
        if STRICT not in background.client.features:
            return None
        try:
            return background.wait_for(background.client.unmatched)
        except ConnectionLostError:
            return None

    def session(self, info: TestInfo, adapter: Adapter) -> Session:
        """Register a test; :meth:`refresh` first where others came before it."""
        background = self.background
        session = Session(background.new_id(), info, background.client, adapter)
        background.wait_for(session.start)
        return session

    def traffic(self, session: Session) -> str:
        """Describe the traffic of a test; nothing when the proxy is gone, as other errors say."""
        try:
            return self.background.wait_for(lambda: traffic(session))
        except ConnectionLostError:
            return ""

    def close(self) -> None:
        self.background.close()
