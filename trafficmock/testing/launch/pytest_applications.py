"""The applications that the fixture ``trafficmock_app`` started, and what they wrote."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from trafficmock.testing.errors import ApplicationError
from trafficmock.testing.launch import shared_applications
from trafficmock.testing.launch.application import Launch, attached_application

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

    from trafficmock.testing.launch.application import Application
    from trafficmock.testing.launch.proxy_process import Proxy


@define(eq=False)
class StartedApplications:
    """The applications of one worker.

    :param proxy: the proxy that they are attached to.
    :param folder: the directory that the workers of the run share; ``None`` without pytest-xdist.
    """

    proxy: Proxy
    folder: Path | None = None
    _started: list[Application] = field(init=False, factory=list)
    _launched: list[Launch] = field(init=False, factory=list)
    _open: ExitStack = field(init=False, factory=ExitStack)

    def start(
        self, command: Sequence[str | PathLike[str]], *, shared: bool = True, **options: Any
    ) -> Application:
        """Start one; see :func:`trafficmock.testing.launch.attached_application`.

        It fails the test, without a traceback, if the application does not start.

        :param shared: the workers of pytest-xdist share one that they start with the same
            arguments; it ends with the last of them. Otherwise each worker starts its own.
        """
        options = {"proxy": self.proxy, **options}
        try:
            if shared and self.folder is not None:
                launch = Launch(command, **options)
                number = sum(each == launch for each in self._launched)
                self._launched.append(launch)
                application = shared_applications.get(self.folder, launch, number)
            else:
                application = self._open.enter_context(attached_application(command, **options))
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
        """Stop those of this worker alone, the last one first."""
        self._open.close()
