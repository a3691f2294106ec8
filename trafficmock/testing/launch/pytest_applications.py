"""The applications that the fixture ``trafficmock_app`` started, and what they wrote."""

from __future__ import annotations

import inspect
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from trafficmock.testing.errors import ApplicationError
from trafficmock.testing.keywords import check_keywords
from trafficmock.testing.launch import shared_applications
from trafficmock.testing.launch.application import Application, Launch, attached_application
from trafficmock.testing.launch.proxy_process import Proxy


@define(eq=False)
class _Started:
    """An application that was started.

    :param serves: whether it was waited for: one that only does something may end.
    :param fixture: the fixture that started it, if that outlives a test.
    :ivar during: the test that ran last when it had ended; empty while it runs.
    :ivar is_said: whether a test has said what it wrote at its end.
    """

    application: Application
    serves: bool
    fixture: str
    during: str = field(init=False, default="")
    is_said: bool = field(init=False, default=False)

    @property
    def name(self) -> str:
        return self.application.client_id or self.application.shown_command

    def told(self) -> str:
        """Return that it has ended, the first time with the last lines that it wrote."""
        text = f"the application has ended {self.application.end} during {self.during}"
        if self.is_said:
            return f"{text}: that test, or the one after it, has the last lines that it wrote"
        self.is_said = True
        said = self.application.last_lines() or "nothing"
        return f"{text}. The last lines that it wrote:\n{said}"


@define(eq=False)
class StartedApplications:
    """The applications of one worker, and a plugin of pytest while they run.

    :param proxy: the proxy that they are attached to.
    :param test: the test that runs, which starts the first of them.
    :param folder: the directory that the workers of the run share; ``None`` without pytest-xdist.
    """

    proxy: Proxy
    _test: str
    folder: Path | None = None
    _started: list[_Started] = field(init=False, factory=list)
    _launched: list[Launch] = field(init=False, factory=list)
    _open: ExitStack = field(init=False, factory=ExitStack)
    _fixtures: list[Any] = field(init=False, factory=list, repr=False)

    def start(
        self, command: Sequence[str | PathLike[str]], *, shared: bool = True, **options: Any
    ) -> Application:
        """Start one; see :func:`trafficmock.testing.launch.attached_application`.

        It fails the test, without a traceback, if the application does not start.

        :param shared: the workers of pytest-xdist share one that they start with the same
            arguments; it ends with the last of them. Otherwise each worker starts its own.
        """
        options = {"proxy": self.proxy, **options}
        known = inspect.signature(attached_application).parameters
        check_keywords("trafficmock_app", options, ("shared", *known))
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
            self._started.append(
                _Started(application, options.get("ready") is not None, self._fixture())
            )
            return application
        pytest.fail(wrong, pytrace=False)

    def _fixture(self) -> str:
        """Return the fixture that is being set up, if its value serves more than one test."""
        fixture = self._fixtures[-1] if self._fixtures else None
        return "" if fixture is None or fixture.scope == "function" else str(fixture.argname)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        """Know which fixture starts an application."""
        self._fixtures.append(fixturedef)
        try:
            return (yield)
        finally:
            self._fixtures.pop()

    def begin(self, item: pytest.Item) -> None:
        """Begin the output of a test, which fails at once if its application has ended."""
        self._note_ends()
        self._test = item.nodeid
        names = getattr(item, "fixturenames", ())
        gone = [each for each in self._started if each.during and each.fixture in names]
        for each in self._started:
            each.application.mark()
        if gone:
            wrong = "\n".join(f"{each.name}: {each.told()}" for each in gone)
            pytest.fail(wrong, pytrace=False)

    def _note_ends(self) -> None:
        for each in self._started:
            if each.serves and not each.during and each.application.has_ended():
                each.during = self._test

    def add_to(self, report: pytest.TestReport) -> None:
        """Add what they wrote since the test began to the report of its failure, once."""
        report.sections.extend(self._sections())

    def _sections(self) -> Iterator[tuple[str, str]]:
        self._note_ends()
        for each in self._started:
            if each.during and not each.is_said:
                yield f"{each.name} has ended", each.told()
            elif text := each.application.new_output():
                yield f"output of {each.name} during this test", text
            each.application.mark()

    def untold(self) -> Iterator[tuple[str, str]]:
        """Give the name and the end of each that ended, when no test came that could say so.

        One that a test started for itself may have been ended by it.
        """
        self._note_ends()
        for each in self._started:
            if each.during and each.fixture and not each.is_said:
                yield each.name, each.told()

    def stop(self) -> None:
        """Stop those of this worker alone, the last one first."""
        self._open.close()
