"""The Twisted service: listens, reports its address, and answers waiting requests when it stops."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from attrs import define, field
from twisted.application.service import Service
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IListeningPort, IStreamServerEndpoint
from twisted.internet.task import deferLater
from twisted.logger import ILogObserver, Logger
from twisted.python.components import Componentized
from twisted.python.failure import Failure
from twisted.web.server import Site

from trafficmock.errors import LocalError
from trafficmock.http.hosts import is_loopback
from trafficmock.server.process.ready_file import ReadyFile
from trafficmock.server.process.systemd_notify import notify

_FAREWELL = 2.0
"""Seconds that clients have to complete their closing handshakes when the service stops."""

_LOOK_AGAIN = 0.05
"""Seconds between two checks for open connections while the service stops."""


class StartError(SystemExit, Exception):
    """The service cannot start; the process ends with this status, without another message.

    It is a ``SystemExit``, which twistd does not report, and an ``Exception``, for which twistd
    removes the pid file.
    """


class StartReport(Protocol):
    """Reports the result of the start to people."""

    def succeeded(self) -> None:
        """Report that the service has started."""

    def failed(self, text: str) -> None:
        """Report that the service cannot start.

        :param text: the reason, one line.
        """


class Stoppable(Protocol):
    """The driver, or another object that is stopped with the service."""

    def stop(self) -> None:
        """Answer waiting requests, and begin to close all connections."""

    def open_links(self) -> int:
        """Return the number of connections that are still open."""


@define(eq=False, kw_only=True)
class ProxyService(Service):
    """The Twisted service of the proxy or the dashboard: it listens on an endpoint.

    :param endpoint: the endpoint to listen on.
    :param site: the factory to listen with.
    :param driver: stopped with the service.
    :param open_to_all: whether listening beyond loopback is allowed.
    :param ready_file: the path of ``--ready-file``; ``None`` for no file.
    :param banner: makes the lines that are logged at the start from the base URL.
    :param log_observer: the log observer of the application, unless twistd's options name another.
    :param start: reports the result of the start.
    :param name: the name of the service in the log.
    :param listens: called with the address when the service listens.
    :param stop_forward: stops the forward proxy, and returns whether clients are still connected to
        it.
    :param stop_export: ends the export to a collector, when all requests are settled.
    """

    log = Logger()

    endpoint: IStreamServerEndpoint
    site: Site
    driver: Stoppable
    reactor: Any
    open_to_all: bool
    ready_file: str | None
    banner: Callable[[str], list[str]]
    log_observer: ILogObserver | None = None
    start: StartReport
    name: str = "trafficmock"
    listens: Callable[[Any], None] = lambda _: None
    stop_forward: Callable[[], bool] = lambda: False
    stop_export: Callable[[], Awaitable[None]] | None = None
    _port: IListeningPort | None = field(default=None, init=False)
    _ready: ReadyFile = field(init=False)
    _failed: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._ready = ReadyFile(Path(self.ready_file) if self.ready_file else None)

    def setServiceParent(self, parent: Any) -> None:  # noqa: N802 - Twisted's
        """Set the application's log observer; twistd's own options take precedence over it."""
        if self.log_observer is not None and isinstance(parent, Componentized):
            parent.setComponent(ILogObserver, self.log_observer)
        super().setServiceParent(parent)

    def privilegedStartService(self) -> None:  # noqa: N802 - Twisted's
        """Listen before privileges are shed; a failure ends the process with one line.

        SIGTERM and SIGINT stop the service and end the process with exit status 0.

        :raises StartError: with status 1, if the endpoint fails at once, as all of Twisted's do.
            It is raised here because an exception within a Deferred does not end the process.
        """
        super().privilegedStartService()
        self.reactor.callWhenRunning(self._handle_signals)
        listening: Deferred[IListeningPort] = maybeDeferred(self._listen)
        listening.addCallback(self._listening).addErrback(self._cannot_start)
        if self._failed:
            raise StartError(1)

    def _listen(self) -> Deferred[IListeningPort]:
        self._ready.prepare()
        return self.endpoint.listen(self.site)

    def startService(self) -> None:  # noqa: N802 - Twisted's
        """Report that the start is complete, once the reactor runs."""
        super().startService()
        # After the ready file, which was scheduled before.
        self.reactor.callWhenRunning(self._started)

    def _started(self) -> None:
        if not self._failed:
            self.start.succeeded()

    async def _stop(self) -> None:
        notify("STOPPING=1", os.environ)
        if self._port is not None:
            await maybeDeferred(self._port.stopListening)
        self.driver.stop()
        if self.stop_forward():
            # Responses that were written just now are sent in the next turn of the reactor.
            await deferLater(self.reactor, _LOOK_AGAIN)
        deadline = self.reactor.seconds() + _FAREWELL
        while self.driver.open_links() and self.reactor.seconds() < deadline:
            await deferLater(self.reactor, _LOOK_AGAIN)
        if self.stop_export is not None:
            await self.stop_export()
        self._remove_ready_file()
        if self._port is not None:
            self.log.info("{name} stopped", name=self.name)

    def stopService(self) -> Deferred[None]:  # noqa: N802 - Twisted's
        """Stop listening, answer waiting requests, and close all connections.

        :returns: fires when all connections are closed, after two seconds at most.
        """
        super().stopService()
        return Deferred.fromCoroutine(self._stop())

    def _listening(self, port: IListeningPort) -> None:
        self._port = port
        address: Any = port.getHost()
        if not self.open_to_all and not _is_local(address):
            raise LocalError(
                f"refusing to listen on {address.host} without a token: anybody who reaches it "
                "could answer the application's requests. Give --token, or listen on 127.0.0.1 "
                "(--host, or interface=127.0.0.1 in an --endpoint), or say --insecure."
            )
        self.listens(address)
        url = _base_url(address)
        for line in self.banner(url):
            self.log.info("{line}", line=line)
        if not _is_local(address):
            self.log.info("  open to other machines: bound to {host}", host=address.host)
        # When the reactor runs, signals are handled: a reader of the file may send one at once.
        self.reactor.callWhenRunning(self._announce, url)

    def _announce(self, url: str) -> None:
        try:
            self._ready.write(url)
        except LocalError:
            self._cannot_start(Failure())
        else:
            notify("READY=1", os.environ)

    def _remove_ready_file(self) -> None:
        try:
            self._ready.remove()
        except LocalError as error:
            self.log.warn("{error}", error=error)

    def _cannot_start(self, failure: Failure) -> None:
        if failure.check(LocalError):
            self.start.failed(failure.getErrorMessage())
        elif failure.check(CannotListenError, OSError, ValueError):
            self.start.failed(
                f"cannot listen: {failure.getErrorMessage().rstrip('.')}; choose another --port "
                "or --host, or stop who listens there"
            )
        else:
            self.log.failure("cannot start", failure=failure)
            self.start.failed(f"cannot start: {failure.getErrorMessage()}")
        self._failed = True
        self._end()

    def _handle_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.reactor.callFromThread(self._end))

    def _end(self) -> None:
        if self.reactor.running:
            self.reactor.stop()


def _is_local(address: Any) -> bool:
    if isinstance(address, IPv4Address | IPv6Address):
        return is_loopback(address.host)
    return True


def _base_url(address: Any) -> str:
    """Return the URL at which the service can be reached on this machine."""
    if isinstance(address, IPv4Address | IPv6Address):
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address.host, address.host)  # noqa: S104 - how people reach it
        return f"http://[{host}]:{address.port}" if ":" in host else f"http://{host}:{address.port}"
    return str(address)
