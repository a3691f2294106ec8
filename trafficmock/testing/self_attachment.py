"""Attaches the process of the tests, for applications that tests call in it, without a server.

The client libraries of this process send their requests through the proxy, as in an application
that ``trafficmock run`` starts. What runs in the thread or task of a test, and in those that begin
there, has the context of that test.
"""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from trafficmock.attach.environment import AttachError, Attachment
from trafficmock.attach.python_preload import DIRECTORY, https_problem
from trafficmock.errors import LocalError
from trafficmock.testing.errors import UsageError
from trafficmock.testing.keywords import checks_keywords
from trafficmock.testing.launch.proxy_process import Proxy, process_proxy
from trafficmock.testing.session.session import Session


class SelfAttachment:
    """This process, attached until :meth:`stop`; also a context manager."""

    def __init__(self, proxy_url: str, contexts: Any, restore: Callable[[], None]) -> None:
        self.proxy_url = proxy_url
        self.contexts = contexts
        self._restore = restore

    def stop(self) -> None:
        """Restore the client libraries; a process that was started attached stays so."""
        if self in _current:
            _current.remove(self)
            self._restore()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})

_current: list[SelfAttachment] = []
"""The attachment of this process; at most one."""


@checks_keywords
def attach_self(
    proxy: Proxy | None = None, *, client_id: str | None = None, direct: Sequence[str] = ()
) -> SelfAttachment:
    """Attach this process, and let the tests that begin in it be current where they run.

    Its environment is not changed, so its child processes are not attached.

    :param proxy: by default the one that the environment names, else one that is started and runs
        as long as this process.
    :param client_id: the name of the application, for the ``client_id`` of routes; by default as
        with ``trafficmock run``.
    :param direct: hosts, with a port or not, that this process reaches past the proxy, besides
        those of ``NO_PROXY`` and ``TRAFFICMOCK_IGNORE_HOSTS``.
    :returns: the attachment; that of an earlier call if it lasts.
    :raises UsageError: the proxy cannot be used from within Python, a variable is invalid, or this
        process is attached to another proxy.
    """
    proxy = proxy or process_proxy()
    url = proxy.url.rstrip("/")
    if not _current:
        _current.append(_attached(proxy, url, client_id, direct))
    if _current[0].proxy_url != url:
        raise UsageError(
            f"this process is attached to {_current[0].proxy_url}; call stop() of that first"
        )
    return _current[0]


def _attached(
    proxy: Proxy, url: str, client_id: str | None, direct: Sequence[str]
) -> SelfAttachment:
    hooks = _preload("hooks")
    if hooks.attached:
        tunnels, contexts = hooks.attached[0]
        own = f"http://{tunnels.settings.authority}" if tunnels.settings else "no proxy"
        if not tunnels.is_proxy_url(url):
            raise UsageError(f"this process was started attached to {own}, not to {url}")
        tunnels.tests_pid = os.getpid()
        return SelfAttachment(url, contexts, lambda: None)
    try:
        attachment = Attachment.of(
            os.environ, url=proxy.url, token=proxy.token, client_id=client_id
        )
        problem = https_problem(attachment.address.scheme, {})
        if problem is not None:
            raise UsageError(problem)
        environment = attachment.environment()
        ignored = " ".join((environment.get("TRAFFICMOCK_IGNORE_HOSTS", ""), *direct))
        environment["TRAFFICMOCK_IGNORE_HOSTS"] = ignored
        process = hooks.OwnProcess(environment)
    except (AttachError, LocalError, ValueError) as error:
        raise UsageError(f"this process cannot be attached: {error}") from error
    return SelfAttachment(url, process.contexts, process.restore)


def worker_name() -> str | None:
    """Return the default client id of a worker of pytest-xdist, whose command line has no program.

    :returns: that of the run without workers: the name of its project, else ``pytest``; ``None``
        if the environment names the process.
    """
    if os.environ.get("TRAFFICMOCK_CLIENT_ID"):
        return None
    name_of: Callable[..., str] = _preload("application_name").name_of
    return name_of((sys.executable, "-m", "pytest"), str(Path.cwd()))


def _preload(name: str) -> Any:
    """Import a module of the preload, which is outside of the package."""
    if "trafficmock_preload" in sys.modules:
        return import_module(f"trafficmock_preload.{name}")
    sys.path.insert(0, str(DIRECTORY))
    try:
        return import_module(f"trafficmock_preload.{name}")
    finally:
        sys.path.remove(str(DIRECTORY))


def begin_test(session: Session) -> Callable[[], None]:
    """Make a test current in this thread or task, if this process is attached.

    :returns: ends that; it is called in the same thread or task.
    """
    context_id = session.context.id
    if not _current or context_id is None:
        return lambda: None
    end: Callable[[], None] = _current[0].contexts.begin_test(context_id)
    return end


@contextlib.contextmanager
def current_test(session: Session) -> Iterator[None]:
    """Make a test current during a block."""
    end = begin_test(session)
    try:
        yield
    finally:
        end()


def is_attached() -> bool:
    """Return whether this process is attached."""
    return bool(_current)


def blocked_client(thread: int) -> str | None:
    """Return where a thread waits in a blocking client of this process, which is attached.

    :param thread: its identifier.
    :returns: the line of the caller, outside of libraries; ``None`` if the thread does not wait.
    """
    frame = sys._current_frames().get(thread)  # noqa: SLF001 - documented
    waits = False
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        waits = waits or name.startswith("trafficmock_preload.clients.")
        file = frame.f_code.co_filename
        if waits and not name.startswith("trafficmock_preload") and not file.startswith(_LIBRARIES):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return None
