"""The connection that blocking and asyncio tests use one after another."""

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

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.testing.session.ports import Adapter
    from trafficmock.testing.session.session import TestInfo
    from trafficmock.wire.outbound import Unmatched


class ThreadedConnection:
    """A connection for several tests, one after another; :meth:`refresh` replaces a lost one.

    :param proxy_url: the proxy's URL; by default that of ``TRAFFICMOCK_PROXY_URL``, else
        ``http://127.0.0.1:4310``.
    :param token: the proxy's token; by default that of ``TRAFFICMOCK_TOKEN``.
    :param worker_id: the index of the test worker.
    :raises ConnectionLostError: no proxy answers.
    :raises RefusedError: the proxy refuses the connection.
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
        """Connect again if the proxy does not answer on this connection.

        :raises ConnectionLostError: no proxy answers.
        :raises RefusedError: the proxy refuses the connection.
        """
        old = self.background
        # A ping, because this process may not have noticed a loss yet.
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
        # Closed last: if it only does not answer, it keeps a strict run strict until here.
        old.close()
        if self._has_asked:
            # The proxy keeps the list as long as a connection is open that has asked for it.
            self.unmatched()

    def make_run_strict(self, allow: Iterable[str]) -> None:
        """Refuse requests that no test owns until this connection is closed.

        :param allow: hosts and URL globs that are let through.
        :raises UsageError: a pattern is invalid.
        """
        background, self._run_allow = self.background, tuple(allow)
        background.wait_for(lambda: background.client.make_run_strict(allow))

    def unmatched(self) -> Unmatched | None:
        """Return the refused requests that no test owns.

        :returns: ``None`` if the connection is lost.
        """
        background, self._has_asked = self.background, True
        try:
            return background.wait_for(background.client.unmatched)
        except ConnectionLostError:
            return None

    def session(self, info: TestInfo, adapter: Adapter) -> Session:
        """Register a test; call :meth:`refresh` first unless it is the first one."""
        background = self.background
        session = Session(background.new_id(), info, background.client, adapter)
        background.wait_for(session.start)
        return session

    def traffic(self, session: Session) -> str:
        """Return the report of a test's traffic; empty where the connection is lost."""
        try:
            return self.background.wait_for(lambda: traffic(session))
        except ConnectionLostError:
            return ""

    def close(self) -> None:
        self.background.close()
