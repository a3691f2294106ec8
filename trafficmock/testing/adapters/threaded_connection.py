"""The connection that blocking and asyncio tests use one after another."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from trafficmock import __version__
from trafficmock.attach import agent_variables
from trafficmock.report.report_settings import added_secrets
from trafficmock.testing.adapters.background_connection import BackgroundConnection
from trafficmock.testing.adapters.blocking_adapter import HandlerThreads
from trafficmock.testing.errors import ConnectionLostError
from trafficmock.testing.promise import Promise
from trafficmock.testing.reporting.case_report import end_block, failed_by
from trafficmock.testing.reporting.guard import guarded
from trafficmock.testing.reporting.record_of_test import asked_texts
from trafficmock.testing.reporting.run_recorder import RunRecorder, recorder
from trafficmock.testing.session.ports import Adapter
from trafficmock.testing.session.session import Session, TestInfo
from trafficmock.testing.session.traffic_report import traffic
from trafficmock.testing.session.worker_client import WorkerIdentity
from trafficmock.wire.outbound import ReportResult, Unmatched


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
            redact=added_secrets(os.environ),
        )
        self.handler_threads = HandlerThreads()
        self._run_allow: tuple[Any, ...] | None = None
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
        with suppress(ConnectionLostError):
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

    def make_run_strict(self, allow: Iterable[Any]) -> None:
        """Refuse requests that no test owns until this connection is closed.

        :param allow: what is let through.
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
        """Return the report of a test's traffic; empty where the connection is lost.

        It raises nothing: it is read where a test has failed by something else.
        """
        problems: list[str] = []
        with (
            guarded("list the traffic of this test", problems.append),
            suppress(ConnectionLostError),
        ):
            return self.background.wait_for(lambda: traffic(session))
        return "\n".join(problems)

    def report(self, session: Session, *, failed: bool | None, stays_open: bool = False) -> None:
        """Offer the traffic of a session that has ended to the report of the run, if there is one.

        :param failed: whether its test has failed; ``None`` if that is not known yet.
        :param stays_open: whether the connection is open when the whole test has ended.
        """
        if (run := recorder()) is not None:
            with guarded("report the traffic of a test", run.fail):
                self._report(run, session, failed=failed, stays_open=stays_open)

    def _report(
        self, run: RunRecorder, session: Session, *, failed: bool | None, stays_open: bool
    ) -> None:
        run.add_hars(session)
        if not run.wants(failed=failed):
            if stays_open:
                run.ask_later(lambda: self.report(session, failed=True))
            else:
                # Nobody can ask for its counts later.
                with suppress(ConnectionLostError):
                    run.heard(self.background.wait_for(lambda: self._counts(run)))
            return
        background = self.background
        client, known = background.client, run.error

        def ask() -> Promise[ReportResult]:
            return client.report(test_id=session.id, texts=asked_texts(session, known), **run.asked)

        try:
            answer = background.wait_for(ask)
        except ConnectionLostError as error:
            run.offer(session, None, str(error))
        else:
            run.offer(session, answer, error=known)
            # The history may drop it before the run ends.
            self.report_unowned(session.started_at)

    def _counts(self, run: RunRecorder) -> Promise[ReportResult]:
        return self.background.client.report(**run.counted)

    def report_hars(self, session: Session) -> None:
        """Give what a session of no test has used of HARs to the report of the run."""
        if (run := recorder()) is not None:
            with guarded("report what a test has used of HARs", run.fail):
                run.add_hars(session)

    def report_block(self, session: Session, error: BaseException | None) -> None:
        """Report a block whose session has ended, before the connection is closed.

        :param error: the error that the block raises.
        """
        failed = None if error is None else failed_by(error)
        self.report(session, failed=failed)
        end_block(session, error)

    def report_unowned(self, since: int | None = None) -> None:
        """Give what no test owned to the report of the run, if there is one.

        :param since: the earliest time, in epoch milliseconds; by default the beginning of the run.
        """
        if (run := recorder()) is not None:
            with guarded("report the requests of no test", run.fail):
                self._report_unowned(run, run.started_at if since is None else since)

    def _report_unowned(self, run: RunRecorder, since: int) -> None:
        background = self.background
        client = background.client
        try:
            run.unowned(background.wait_for(lambda: client.report(since=since, **run.asked)))
            answer = background.wait_for(client.unmatched)
        except ConnectionLostError as error:
            run.unowned(None, str(error))
        else:
            run.refused(answer.requests, answer.dropped)

    def close(self) -> None:
        self.background.close()
