"""Starts the application of the tests, attached, and stops it with all processes it started."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NoReturn, Protocol
from urllib.parse import SplitResult, quote, urlsplit

from attrs import define, evolve, field, frozen

from trafficmock.testing.errors import ApplicationError, UsageError
from trafficmock.testing.keywords import checks_keywords
from trafficmock.testing.launch import processes
from trafficmock.testing.launch.proxy_process import Proxy, listens, process_proxy
from trafficmock.testing.redacted_texts import redacted_texts
from trafficmock.texts.wording import url_text

Ready = str | re.Pattern[str] | None

PORT = "{port}"
KEPT_BYTES = 256 * 1024
"""How much of an application's output is kept: the newest."""

SHOWN_LINES = 60
"""How many lines of it are shown with an error, the last ones."""

READY_SECONDS = 60.0
_POLL_SECONDS = 0.02
_TRY_SECONDS = 5.0
_CHUNK = 64 * 1024
_LONGEST_LINE = 64 * 1024
_KEPT = "%/:?#[]@!$&'()*+,;=~"
"""What stays as it is in the target of a request."""


@define(eq=False)
class Output:
    """What a process writes, read by a thread so that the process never waits for a reader.

    :param pipe: the descriptor to read from, which the thread closes.
    """

    pipe: int
    _changed: threading.Condition = field(init=False, factory=threading.Condition, repr=False)
    _kept: bytearray = field(init=False, factory=bytearray, repr=False)
    _total: int = field(init=False, default=0)
    _ended: bool = field(init=False, default=False)
    _marked: int = field(init=False, default=0)

    def __attrs_post_init__(self) -> None:
        threading.Thread(target=self._read_all, daemon=True).start()

    def _read_all(self) -> None:
        """Read until the pipe ends; the oldest bytes are dropped."""
        while chunk := os.read(self.pipe, _CHUNK):
            with self._changed:
                self._kept += chunk
                self._total += len(chunk)
                del self._kept[:-KEPT_BYTES]
                self._changed.notify_all()
        os.close(self.pipe)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def mark(self) -> None:
        """Let :meth:`since_mark` begin here."""
        with self._changed:
            self._marked = self._total

    def since_mark(self) -> str:
        """Return what was written since the mark, as far as it is kept."""
        with self._changed:
            new = self._total - self._marked
            return self._kept[len(self._kept) - min(new, len(self._kept)) :].decode(
                errors="replace"
            )

    def text(self) -> str:
        """Return what is kept."""
        with self._changed:
            return self._kept.decode(errors="replace")

    def wait(self, seconds: float) -> None:
        """Wait for more output, or for its end."""
        with self._changed:
            if not self._ended:
                self._changed.wait(seconds)

    def wait_for_end(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._ended, seconds)


class StartedProcess(Protocol):
    """The process of an application."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None:
        """Return its status if it has ended."""


class ReadOutput(Protocol):
    """The part of an application's output that is kept, as :class:`Output` reads it."""

    def mark(self) -> None:
        """Let :meth:`since_mark` begin here."""

    def since_mark(self) -> str:
        """Return what was written since the mark, as far as it is kept."""

    def text(self) -> str:
        """Return what is kept."""

    def wait(self, seconds: float) -> None:
        """Wait for more output, or for its end."""

    def wait_for_end(self, seconds: float) -> None:
        """Wait for the rest of what an application wrote that has ended."""


@define(eq=False)
class Application:
    """An application that runs attached.

    :ivar url: its address: the URL that it was waited for, or the first group of the pattern;
        empty without ``ready``.
    """

    _process: StartedProcess = field(repr=False)
    _output: ReadOutput = field(repr=False)
    command: str
    client_id: str | None = None
    _proxy: Proxy | None = field(default=None, repr=False)
    url: str = field(init=False, default="")

    @property
    def shown_command(self) -> str:
        """The command line, with marks for its secrets."""
        return redacted(self.command, self._proxy)

    @property
    def pid(self) -> int:
        """The id of the process that was started."""
        return self._process.pid

    def has_ended(self) -> bool:
        """Return whether the process that was started has ended."""
        return self._process.poll() is not None

    @property
    def end(self) -> str:
        """How the process has ended, as the end of a sentence."""
        status = self._process.poll()
        if status is None or status >= 0:
            return f"with status {status}"
        with suppress(ValueError):
            return f"by {signal.Signals(-status).name}"
        return f"by signal {-status}"

    def last_lines(self) -> str:
        """Return the last lines that it has written, without secrets."""
        if self.has_ended():
            self._output.wait_for_end(_TRY_SECONDS)
        return self._shown_lines(self._output.text())

    def output(self) -> str:
        """Return what the application has written, the newest 256 KiB."""
        return self._output.text()

    def mark(self) -> None:
        """Begin the output of the next test."""
        self._output.mark()

    def new_output(self) -> str:
        """Return the last lines that it has written since :meth:`mark`, without secrets."""
        return self._shown_lines(self._output.since_mark())

    def wait_until_ready(self, ready: Ready, seconds: float) -> None:
        """Wait until the application serves.

        :raises ApplicationError: it ended before, or the time is over; the text has its output.
        """
        deadline = time.monotonic() + seconds
        while not self._is_ready(ready):
            if self.has_ended():
                self._output.wait_for_end(_TRY_SECONDS)
                if isinstance(ready, re.Pattern) and self._is_ready(ready):
                    return
                self._fail(f"ended {self.end} before it was ready ({_shown(ready)})")
            if time.monotonic() > deadline:
                self._fail(f"was not ready ({_shown(ready)}) after {seconds:g} s")
            self._output.wait(_POLL_SECONDS)

    def _is_ready(self, ready: Ready) -> bool:
        if isinstance(ready, re.Pattern):
            found = ready.search(self._output.text())
            if found is not None and ready.groups:
                self.url = found[1]
            return found is not None
        if ready is not None:
            self.url = ready
            return not self.has_ended() and _answers(ready)
        return True

    def _shown_lines(self, text: str) -> str:
        """Return the last lines of an output, with marks for secrets: test runners write them."""
        lines = text.splitlines()
        left = len(lines) - SHOWN_LINES
        head = [f"({left} lines before)"] if left > 0 else []
        return redacted("\n".join((*head, *lines[-SHOWN_LINES:])), self._proxy)

    def _fail(self, what: str) -> NoReturn:
        said = self.last_lines() or "nothing"
        raise ApplicationError(f"`{self.shown_command}` {what}. It wrote:\n{said}")


def _words(command: Iterable[str | os.PathLike[str]]) -> list[str]:
    return [os.fspath(each) for each in command]


@frozen
class Launch:
    """How an application is started; the arguments are those of :func:`attached_application`.

    :raises UsageError: as there.
    """

    words: list[str] = field(converter=_words)
    ready: Ready = None
    client_id: str | None = None
    proxy: Proxy | None = None
    cwd: str | Path | None = None
    env: Mapping[str, str] | None = field(default=None, repr=False)
    agent: bool = True
    forward_proxy: bool = True
    timeout: float = READY_SECONDS

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.ready, str | re.Pattern | None):
            raise UsageError(f"ready is a URL or a compiled pattern, not {self.ready!r}")
        has_port = any(PORT in each for each in self.words)
        if isinstance(self.ready, str) and PORT in self.ready and not has_port:
            raise UsageError(f"ready has {PORT}, but no argument of the command has it")

    @property
    def command(self) -> str:
        """The command line."""
        return shlex.join(self.words)

    @property
    def shown_command(self) -> str:
        """The command line, with marks for its secrets."""
        return redacted(self.command, self.proxy)

    def with_port(self) -> Launch:
        """Return it with a free port in the place of ``{port}``."""
        if not any(PORT in each for each in self.words):
            return self
        port, ready = str(_free_port()), self.ready
        words = [each.replace(PORT, port) for each in self.words]
        return evolve(
            self,
            words=words,
            ready=ready.replace(PORT, port) if isinstance(ready, str) else ready,
        )

    def check_free(self) -> None:
        """Check that nothing answers at its URL before it is started.

        :raises ApplicationError: if something does.
        """
        if isinstance(self.ready, str) and listens(self.ready):
            raise ApplicationError(
                f"something listens at {url_text(self.ready)} already, before "
                f"`{self.shown_command}` was started. Write {PORT} for a free port"
            )

    def environment(self) -> dict[str, str]:
        """Return the whole environment of the process."""
        environment = (self.proxy or process_proxy()).environment(
            self.client_id, agent=self.agent, forward_proxy=self.forward_proxy
        )
        environment.setdefault("PYTHONUNBUFFERED", "1")
        return {**environment, **(self.env or {})}


@checks_keywords
@contextmanager
def attached_application(
    command: Sequence[str | os.PathLike[str]],
    *,
    ready: Ready = None,
    client_id: str | None = None,
    proxy: Proxy | None = None,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    agent: bool = True,
    forward_proxy: bool = True,
    timeout: float = READY_SECONDS,
) -> Iterator[Application]:
    """Run an application attached to a proxy, until the block ends.

    Its output is read all the time, so that it never waits for a reader; the newest 256 KiB are
    kept. It and the processes that it started are stopped at the end, also if this process is
    killed, but those with a process group of their own. Its standard input is a pipe that gets
    nothing, and ends with the tests.

    :param command: the program and its arguments. ``{port}`` in one of them, and in ``ready``, is
        a free port.
    :param ready: a URL of the application: it is ready when the URL answers, with any status; one
        without a path is only connected to. Or a compiled pattern: it is ready when its output
        has it, and the first group is its ``url``. Without one, it is not waited for.
    :param client_id: the name of the application, for the ``client_id`` of routes.
    :param proxy: by default the one that the environment names, else one that is started.
    :param cwd: its working directory.
    :param env: more environment variables, which come before others of the same name.
    :param agent: as in :meth:`trafficmock.testing.launch.Proxy.environment`.
    :param forward_proxy: as there.
    :param timeout: how long it may take to be ready, in seconds.
    :returns: a context manager of the :class:`Application`.
    :raises ApplicationError: there is no such program, it ended before it was ready, or the time
        is over.
    :raises UsageError: ``ready`` is of another type, or has a port that the command does not get.
    """
    given = Launch(command, ready, client_id, proxy, cwd, env, agent, forward_proxy, timeout)
    launch = given.with_port()
    launch.check_free()
    process, output = _start(launch)
    application = Application(process, output, launch.command, client_id, proxy)
    try:
        with processes.ended_with_this_process(process.pid):
            try:
                application.wait_until_ready(launch.ready, timeout)
                yield application
            finally:
                processes.stop_group(process)
    finally:
        if process.stdin is not None:
            with suppress(BrokenPipeError):
                process.stdin.close()


def redacted(text: str, proxy: Proxy | None) -> str:
    """Return a text with marks for its secrets: test runners print errors, and CI keeps them.

    :param proxy: which has the rule; by default that of this process.
    """
    proxy = proxy or process_proxy()
    return redacted_texts([text], proxy.url, proxy.token)[0]


def _start(launch: Launch) -> tuple[subprocess.Popen[bytes], Output]:
    environment = launch.environment()
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(  # noqa: S603 - the command of the tests
            launch.words,
            env=environment,
            cwd=launch.cwd,
            stdin=subprocess.PIPE,
            stdout=writing,
            stderr=writing,
            **processes.own_group(),
        )
    except OSError as error:
        os.close(reading)
        raise ApplicationError(f"cannot start `{launch.shown_command}`: {error}") from None
    finally:
        os.close(writing)
    return process, Output(reading)


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port: int = free.getsockname()[1]
        return port


def _answers(url: str) -> bool:
    """Return whether a URL answers; neither proxies nor redirects are followed.

    It asks by a socket: where this process is attached, a client library would be, too, and the
    question would be traffic of the test.
    """
    place = urlsplit(url)
    if not place.path:
        return listens(url)
    target = quote(f"{place.path}?{place.query}" if place.query else place.path, safe=_KEPT)
    host = place.netloc.rpartition("@")[2]
    head = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    try:
        with _connected(place) as connection, connection.makefile("rb") as answer:
            connection.sendall(head.encode("ascii", "replace"))
            return answer.readline(_LONGEST_LINE).startswith(b"HTTP/")
    except OSError:
        return False


def _connected(place: SplitResult) -> socket.socket:
    is_secure = place.scheme == "https"
    host, port = place.hostname or "", place.port or (443 if is_secure else 80)
    connection = socket.create_connection((host, port), timeout=_TRY_SECONDS)
    if not is_secure:
        return connection
    # A test's server may have any certificate.
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    try:
        return trusting.wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise


def _shown(ready: Ready) -> str:
    if isinstance(ready, re.Pattern):
        return f"/{ready.pattern}/ in its output"
    return url_text(ready or "")
