"""The applications that the fixture ``trafficmock_app`` started, and what they wrote."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from trafficmock.testing.errors import ApplicationError
from trafficmock.testing.launch.application import attached_application

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from trafficmock.testing.launch.application import Application
    from trafficmock.testing.launch.proxy_process import Proxy


@define(eq=False)
class StartedApplications:
    """The applications of one worker.

    :param proxy: the proxy that they are attached to.
    """

    proxy: Proxy
    _started: list[Application] = field(init=False, factory=list)
    _open: ExitStack = field(init=False, factory=ExitStack)

    def start(self, command: Sequence[str | PathLike[str]], **options: Any) -> Application:
        """Start one; see :func:`trafficmock.testing.launch.attached_application`.

        It fails the test, without a traceback, if the application does not start.
        """
        made = attached_application(command, **{"proxy": self.proxy, **options})
        try:
            application = self._open.enter_context(made)
        except ApplicationError as error:
            wrong = str(error)
        else:
            self._started.append(application)
            return application
        pytest.fail(wrong, pytrace=False)

    def mark(self) -> None:
        """Begin the output of a test."""
        for each in self._started:
            each.mark()

    def add_to(self, report: pytest.TestReport) -> None:
        """Add what they wrote since the test began to its report, once."""
        for each in self._started:
            if text := each.new_output():
                name = each.client_id or each.command
                report.sections.append((f"output of {name} during this test", text))
        self.mark()

    def stop(self) -> None:
        """Stop all, the last one first."""
        self._open.close()
