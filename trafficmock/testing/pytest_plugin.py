"""The pytest plugin: fixtures, options, and the traffic of a test that failed.

pytest finds it by its entry point. Most of the package is imported only when a test uses the first
fixture.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from trafficmock.testing import strict_marks, unowned_requests
from trafficmock.testing.reporting import pytest_problems, report_options
from trafficmock.testing.reporting.guard import guarded
from trafficmock.testing.shared_directory import directory, has_proxy, running_applications

if TYPE_CHECKING:
    from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
    from trafficmock.testing.launch.application import Application
    from trafficmock.testing.launch.proxy_process import Proxy
    from trafficmock.testing.launch.pytest_applications import StartedApplications


_OPTIONS = {
    "url": ("--trafficmock-proxy-url", "trafficmock_proxy_url", "URL of a proxy that runs"),
    "token": ("--trafficmock-token", "trafficmock_token", "token that the proxy asks for"),
    "isolation": (
        "--trafficmock-isolation",
        "trafficmock_isolation",
        "auto, off, or required: whether the traffic of a test carries its context (default auto)",
    ),
}


_INSTALLED = {"site-packages", "dist-packages"}
"""The directories of installed packages."""

_REQUIRED = "--trafficmock-required"
_MUST = "fail a test if no request meets one of its routes"
_PROXY_OPTIONS = "--trafficmock-proxy-options"
_ATTACH_SELF = "--trafficmock-attach-self"
_SELF = "attach the process of the tests, for applications that run in it"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, and the ini values of the same meaning."""
    group = parser.getgroup("trafficmock")
    for option, ini, meaning in _OPTIONS.values():
        group.addoption(option, default=None, help=meaning)
        parser.addini(ini, meaning, default="")
    origins = "origins of the application, such as http://localhost:3000; else that of --base-url"
    parser.addini("trafficmock_origins", origins, type="linelist", default=[])
    meaning = "options of trafficmock serve, for a proxy that is started for the tests"
    group.addoption(_PROXY_OPTIONS, action="append", default=[], help=f"{meaning}, as one text")
    parser.addini("trafficmock_proxy_options", meaning, type="args", default=[])
    group.addoption(_REQUIRED, action="store_true", default=False, help=_MUST)
    parser.addini("trafficmock_required", _MUST, type="bool", default=False)
    group.addoption(_ATTACH_SELF, action="store_true", default=False, help=_SELF)
    parser.addini("trafficmock_attach_self", _SELF, type="bool", default=False)
    strict_marks.add_options(parser, group)
    report_options.add_options(parser, group)


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark, check the ini value ``trafficmock_allow``, and begin a report.

    :raises UsageError: one of its patterns is invalid, or the report cannot be written.
    """
    now = time.time_ns() // 1_000_000
    config.stash[_BEGAN] = getattr(config, "workerinput", {}).get(_BEGAN_KEY, now)
    strict_marks.add_mark(config)
    report_options.begin(config, config.stash[_BEGAN])
    if allow := config.getini(strict_marks.INI_ALLOW):
        from trafficmock.testing.errors import UsageError  # noqa: PLC0415 - only where it is needed
        from trafficmock.testing.session.arguments.allow_patterns import allow_patterns  # noqa: PLC0415

        try:
            allow_patterns(allow)
        except UsageError as error:
            raise pytest.UsageError(f"{strict_marks.INI_ALLOW}: {error}") from None


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the proxy that was started for this run, in the process that outlives all workers.

    The applications end with the last worker; they have ended when the run has.
    """
    if hasattr(config, "workerinput"):
        return
    with guarded("stop what it started for the run", sys.stderr.write):
        if running_applications(config):
            from trafficmock.testing.launch import shared_applications  # noqa: PLC0415 - as below

            shared_applications.wait_for_ends(config)
        if has_proxy(config):
            from trafficmock.testing.launch import shared_proxy  # noqa: PLC0415 - as above

            shared_proxy.stop(config)


@pytest.fixture(scope="session")
def trafficmock_proxy(request: pytest.FixtureRequest) -> Proxy:
    """Return the proxy, with ``url`` and ``token``; xdist workers share one.

    Its address is that of the options, the ini file or the environment, in this order; without
    one, a proxy is started on a free port.
    """
    from trafficmock.attach import agent_variables  # noqa: PLC0415 - only where it is needed
    from trafficmock.testing.errors import ConnectionLostError  # noqa: PLC0415
    from trafficmock.testing.launch import shared_proxy  # noqa: PLC0415
    from trafficmock.testing.launch.proxy_process import Proxy  # noqa: PLC0415

    url = _setting(request.config, "url") or agent_variables.proxy_url()
    token = _setting(request.config, "token") or agent_variables.proxy_token()
    allow = strict_marks.allowed_in_run(request.config)
    if url:
        return Proxy(url, token)
    given = " ".join(request.config.getoption(_PROXY_OPTIONS))
    options = [*request.config.getini("trafficmock_proxy_options"), *shlex.split(given)]
    try:
        return shared_proxy.get(request.config, token, allow, options)
    except ConnectionLostError as error:
        wrong = str(error)
    pytest.fail(wrong, pytrace=False)


@pytest.fixture(scope="session")
def trafficmock_env(trafficmock_proxy: Proxy) -> Callable[..., dict[str, str]]:
    """Return a function that makes the environment in which an application runs attached.

    Its argument ``client_id`` names the application, for routes; see
    :meth:`trafficmock.testing.launch.Proxy.environment` for the others.
    """
    return trafficmock_proxy.environment


@pytest.fixture(scope="session")
def trafficmock_app(
    request: pytest.FixtureRequest, trafficmock_proxy: Proxy
) -> Iterator[Callable[..., Application]]:
    """Return a function that starts an application attached, until the tests end.

    Its arguments are those of :func:`trafficmock.testing.launch.attached_application`. The workers
    of pytest-xdist share one application that all of them start with the same arguments; with
    ``shared=False`` each starts its own. The report of a test that fails has what the application
    wrote during the test. If an application that was waited for ends, the tests after it that use
    its fixture fail at once.
    """
    from trafficmock.testing.launch.pytest_applications import StartedApplications  # noqa: PLC0415 - only where it is needed

    folder = directory(request.config) if hasattr(request.config, "workerinput") else None
    test = request.session.stash[_RUNNING]
    started = request.session.stash[_STARTED] = StartedApplications(trafficmock_proxy, test, folder)
    request.config.pluginmanager.register(started)
    yield started.start
    request.config.pluginmanager.unregister(started)
    with pytest_problems.ending(request.config):
        for name, text in started.untold():
            pytest_problems.note(request.config, f"{name} has ended", text)
        started.stop()


@pytest.fixture(scope="session")
def trafficmock_base_url(request: pytest.FixtureRequest) -> str | None:
    """Return the base URL of relative globs: by default that of pytest-base-url, if installed."""
    url: str | None = request.config.getoption("base_url", None)
    with contextlib.suppress(KeyError, ValueError):
        # Without that plugin there is no such ini value.
        url = url or request.config.getini("base_url")
    return url or None


@pytest.fixture(scope="session")
def trafficmock_origins(
    request: pytest.FixtureRequest, trafficmock_base_url: str | None
) -> tuple[str, ...]:
    """Return the origins of the application: the ini value, else the base URL."""
    given: list[str] = request.config.getini("trafficmock_origins")
    return tuple(given) or ((trafficmock_base_url,) if trafficmock_base_url else ())


@pytest.fixture(scope="session")
def _trafficmock_settings(
    request: pytest.FixtureRequest,
    trafficmock_base_url: str | None,
    trafficmock_origins: tuple[str, ...],
) -> dict[str, Any]:
    return {
        "base_url": trafficmock_base_url,
        "origins": trafficmock_origins,
        "isolation": _setting(request.config, "isolation") or "auto",
        "root": str(request.config.rootpath),
        "required": request.config.getoption(_REQUIRED)
        or request.config.getini("trafficmock_required"),
    }


@pytest.fixture(scope="session")
def _trafficmock_connection(
    request: pytest.FixtureRequest, trafficmock_proxy: Proxy
) -> Iterator[ThreadedConnection]:
    from trafficmock.testing.adapters.threaded_connection import ThreadedConnection  # noqa: PLC0415
    from trafficmock.testing.reporting import run_age  # noqa: PLC0415 - only where it is needed

    run_age.began(request.config.stash[_BEGAN])
    connection = ThreadedConnection(
        trafficmock_proxy.url, token=trafficmock_proxy.token, worker_id=_worker_id()
    )
    try:
        allow = strict_marks.allowed_in_run(request.config)
        # A proxy that was started for the tests is strict from its beginning.
        if allow is not None and trafficmock_proxy.pid is None:
            connection.make_run_strict(allow)
        # The proxy keeps the list of a run from the first query until the connections of all that
        # asked have ended.
        connection.unmatched()
        yield connection
        with pytest_problems.ending(request.config):
            unowned_requests.collect(request.config, connection)
            connection.report_unowned()
    finally:
        connection.close()


@pytest.fixture(scope="session", autouse=True)
def _trafficmock_strict_run(request: pytest.FixtureRequest) -> None:
    """Make the run strict before its first test and fixture."""
    if strict_marks.allowed_in_run(request.config) is not None:
        request.getfixturevalue("_trafficmock_connection")


@pytest.fixture(scope="session", autouse=True)
def _trafficmock_attach_self(request: pytest.FixtureRequest) -> Iterator[None]:
    """Attach this process before its first test and fixture, and restore it after the last."""
    config = request.config
    if not (config.getoption(_ATTACH_SELF) or config.getini("trafficmock_attach_self")):
        yield
        return
    from trafficmock.testing.errors import UsageError  # noqa: PLC0415 - only where it is needed
    from trafficmock.testing.self_attachment import attach_self, worker_name  # noqa: PLC0415
    from trafficmock.testing.session.traffic_context import authorities_of  # noqa: PLC0415

    origins = request.getfixturevalue("trafficmock_origins")
    try:
        attachment = attach_self(
            request.getfixturevalue("trafficmock_proxy"),
            client_id=worker_name() if hasattr(config, "workerinput") else None,
            direct=authorities_of(origins),
        )
    except UsageError as error:
        wrong = str(error)
    else:
        with attachment:
            yield
        return
    pytest.fail(wrong, pytrace=False)


@pytest.fixture(scope="session")
def trafficmock_shared(
    request: pytest.FixtureRequest,
    _trafficmock_connection: ThreadedConnection,
    _trafficmock_settings: dict[str, Any],
) -> Iterator[Any]:
    """Return mocks whose routes serve all tests of this worker, after a test's own routes.

    ``trafficmock_shared(scope="run")`` returns those that serve the whole run.
    Its calls block, even in coroutine tests. Errors of its handlers fail the test that runs.
    """
    from trafficmock.testing import sync  # noqa: PLC0415 - only where it is needed
    from trafficmock.testing.adapters.pytest_errors import SharedErrors  # noqa: PLC0415
    from trafficmock.testing.adapters.teardown import raise_errors  # noqa: PLC0415

    connection = _trafficmock_connection
    connection.refresh()
    settings = {**_trafficmock_settings, "required": False}
    mocks, sessions = sync.begin_shared(connection, _worker_id(), settings)
    request.session.stash[_SHARED] = SharedErrors(connection, sessions)
    yield mocks
    errors: list[BaseException] = []
    with pytest_problems.ending(request.config):
        for session in sessions:
            finished: list[BaseException] = connection.background.wait_for(session.finish)
            errors += finished
            connection.report_hars(session)
        raise_errors(sessions[0].info.title, errors)


@pytest.fixture
def trafficmock(
    request: pytest.FixtureRequest,
    _trafficmock_connection: ThreadedConnection,
    _trafficmock_settings: dict[str, Any],
) -> Iterator[Any]:
    """Return the mocks of this test: awaitable ones in an ``async def`` test, else blocking ones.

    Errors of handlers are raised at the test's end, as an ``ExceptionGroup``.
    """
    from trafficmock.testing import aio, sync  # noqa: PLC0415 - only where it is needed
    from trafficmock.testing.self_attachment import current_test  # noqa: PLC0415
    from trafficmock.testing.session.session import TestInfo  # noqa: PLC0415

    connection = _trafficmock_connection
    connection.refresh()
    title = request.node.nodeid
    # From the root directory, as pytest itself shows it.
    file = request.node.location[0]
    browser_proxy = _has_browser(request) or "trafficmock_browser_proxy" in request.fixturenames
    strict = _strict_settings(request.node)
    info = TestInfo(
        title=title, file=file, browser_proxy=browser_proxy, **strict, **_trafficmock_settings
    )
    awaits = inspect.iscoroutinefunction(getattr(request, "function", None))
    mocks, session = (aio if awaits else sync).begin(connection, info)
    errors = _errors_of(request.node, create=True)
    errors.begin(connection, session)
    with current_test(session):
        yield mocks
    with pytest_problems.ending(request.config):
        try:
            errors.end()
        finally:
            errors.report()


@pytest.fixture
def trafficmock_browser_proxy(trafficmock: Any) -> dict[str, str] | None:
    """Return a proxy for the browser of this test, for drivers other than pytest-playwright.

    The dict has ``server`` and, with a token, ``username`` and ``password``; ``None`` for a test
    without a context.
    """
    proxy: dict[str, str] | None = trafficmock.proxy
    return proxy


@pytest.fixture
def trafficmock_door(
    trafficmock_browser_proxy: dict[str, str] | None,
) -> dict[str, str] | None:
    """Return the same, by the older name of ``trafficmock_browser_proxy``."""
    return trafficmock_browser_proxy


@pytest.fixture(autouse=True)
def _trafficmock_browser(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have the browser contexts of pytest-playwright send the test's context, before one is open.

    A test with the mark ``trafficmock`` has mocks, whether it asks for them or not.
    """
    if request.node.get_closest_marker(strict_marks.MARK) is not None:
        request.getfixturevalue("trafficmock")
    if not _has_browser(request):
        yield
        return
    from trafficmock.testing.adapters.tagged_browser import (  # noqa: PLC0415 - only where it is needed
        tagged,
        warn_of_other_proxy,
    )

    request.getfixturevalue("trafficmock")
    session = _errors_of(request.node).session
    # The browser's own proxy has precedence: it may be the only way to the application.
    launched = request.getfixturevalue("browser_type_launch_args")
    proxy = session.browser_proxy()
    cookies = session.context.cookies_for(session.info.origins)
    if proxy and launched.get("proxy"):
        warn_of_other_proxy(cookies, of="the browser", stacklevel=1)
        proxy = None
    with tagged(request.getfixturevalue("browser"), proxy, cookies):
        yield


def _has_browser(request: pytest.FixtureRequest) -> bool:
    return {"trafficmock", "browser", "browser_type_launch_args"} <= set(request.fixturenames)


_ERRORS: pytest.StashKey[Any] = pytest.StashKey()
"""The :class:`TestErrors` of a test with mocks."""

_STARTED: pytest.StashKey[StartedApplications] = pytest.StashKey()

_RUNNING: pytest.StashKey[str] = pytest.StashKey()
"""The test that runs."""

_BEGAN: pytest.StashKey[int] = pytest.StashKey()
_BEGAN_KEY = "trafficmock_began"
"""When the run began, in epoch milliseconds; a worker of xdist has it in ``workerinput``."""

_SHARED: pytest.StashKey[Any] = pytest.StashKey()
"""The :class:`SharedErrors` of this worker."""


def _errors_of(item: pytest.Item, *, create: bool = False) -> Any:
    """Return the errors of a test's mocks; ``None`` where neither it nor its worker has mocks.

    :param create: make the object for a test that has none.
    """
    errors, shared = item.stash.get(_ERRORS, None), item.session.stash.get(_SHARED, None)
    if errors is None and (create or shared is not None):
        from trafficmock.testing.adapters.pytest_errors import TestErrors  # noqa: PLC0415 - only where it is needed

        errors = item.stash[_ERRORS] = TestErrors(item)
    if errors is not None:
        errors.shared = shared
    return errors


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Forget an earlier run of this test, and begin its output in what the applications write."""
    # A plugin that runs a failed test again runs the same item.
    if _ERRORS in item.stash:
        del item.stash[_ERRORS]
    item.session.stash[_RUNNING] = item.nodeid
    if started := item.session.stash.get(_STARTED, None):
        started.begin(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a test whose mocks have errors, as if its own code had raised them."""
    result = yield
    if errors := _errors_of(item):
        errors.raise_after_call()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail the teardown if handlers of shared routes failed during it."""
    with pytest_problems.teardown(item.config):
        result = yield
    if errors := _errors_of(item):
        errors.raise_after_teardown()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, pytest.TestReport]:
    """Add the test's traffic and the errors of its mocks to the report of a failure."""
    problems: list[str] = []
    if call.excinfo is not None:
        with guarded("shorten the traceback of a test", problems.append):
            _hide_own_frames(call.excinfo)
            _drop_plugin_frames(call.excinfo, item.config.pluginmanager)
    report: pytest.TestReport = yield
    with guarded("add the errors of its mocks to the report of a test", problems.append):
        if errors := _errors_of(item):
            errors.add_to(report)
    with guarded("add the output of the applications to the report of a test", problems.append):
        if report.failed and (started := item.session.stash.get(_STARTED, None)):
            started.add_to(report)
    for text in problems:
        pytest_problems.fail_test(report, text)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Let a worker of xdist send any text of a report, also that of an error of the test itself."""
    return pytest_problems.sendable((yield))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which strict mode refused requests that no test owns."""
    with pytest_problems.at_end(session.config, "judge the run"):
        unowned_requests.fail_run(session)
    pytest_problems.fail_run(session)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of xdist when the run began."""
    node.workerinput[_BEGAN_KEY] = node.config.stash[_BEGAN]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Keep the refused requests that a worker of xdist reports.

    One that ends without doing so, after its tests, fails none of them.
    """
    output: dict[str, Any] | None = getattr(node, "workeroutput", None)
    with pytest_problems.at_end(node.config, "read what a worker reports"):
        if output is not None:
            pytest_problems.add_of_worker(node.config, output)
            unowned_requests.add_of_worker(node.config, output)
        elif strict_marks.allowed_in_run(node.config) is not None:
            pytest_problems.lost_worker(node.config, node.gateway.id)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the requests without a test that strict mode refused."""
    with pytest_problems.at_end(terminalreporter.config, "list the requests of no test"):
        unowned_requests.write(terminalreporter)
    pytest_problems.write(terminalreporter)


def _hide_own_frames(failure: pytest.ExceptionInfo[BaseException]) -> None:
    """Show a failure where the test's own code called, as pytest does for ``__tracebackhide__``."""
    for entry in failure.traceback:
        if _module_of(entry).startswith("trafficmock."):
            entry.frame.f_globals["__tracebackhide__"] = True


def _drop_plugin_frames(
    failure: pytest.ExceptionInfo[BaseException], plugins: pytest.PytestPluginManager
) -> None:
    """Leave out the frames of installed plugins that called a fixture of ours.

    Ours are hidden, so the failure would be shown in such a frame, as if the plugin had failed.
    """
    names = [_module_of(entry) for entry in failure.traceback]
    ours = next((at for at, name in enumerate(names) if name.startswith("trafficmock.")), 0)
    if not ours:
        return
    roots = {
        each.__name__.partition(".")[0] for each in plugins.get_plugins() if inspect.ismodule(each)
    }
    kept = [
        entry
        for at, entry in enumerate(failure.traceback)
        if at >= ours
        or names[at].partition(".")[0] not in roots
        or _INSTALLED.isdisjoint(re.split(r"[\\/]", str(entry.path)))
    ]
    failure.traceback = type(failure.traceback)(kept)


def _module_of(entry: Any) -> str:
    return str(entry.frame.f_globals.get("__name__"))


def _strict_settings(item: pytest.Item) -> dict[str, Any]:
    try:
        return strict_marks.settings(item)
    except strict_marks.MarkError as error:
        wrong = str(error)
    pytest.fail(wrong, pytrace=False)


def _setting(config: pytest.Config, name: str) -> str | None:
    option, ini, _ = _OPTIONS[name]
    given = config.getoption(option) or config.getini(ini)
    return str(given) if given else None


def _worker_id() -> str:
    """Return the number of the xdist worker; 0 without xdist."""
    return os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
