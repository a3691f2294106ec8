"""The running service: where it listens, what it says, how it ends."""

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

from attrs import define, field
from twisted.application.service import Application
from twisted.internet.address import IPv4Address, IPv6Address, UNIXAddress
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.error import CannotListenError
from twisted.internet.task import Clock
from twisted.logger import ILogObserver, LogEvent, Logger, formatEvent
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server import service
from trafficmock.server.process.log_observers import silent
from trafficmock.server.service import ProxyService

HERE = IPv4Address("TCP", "127.0.0.1", 4310)
EVERYWHERE = IPv4Address("TCP", "0.0.0.0", 4310)  # noqa: S104 - what is refused


@define
class FakePort:
    """Something that listens."""

    address: Any
    stopped: bool = False

    def getHost(self) -> Any:
        return self.address

    def stopListening(self) -> None:
        self.stopped = True


@define
class FakeEndpoint:
    """Answers ``listen`` with what it was given."""

    answer: Deferred[Any]

    def listen(self, factory: object) -> Deferred[Any]:  # noqa: ARG002 - Twisted's signature
        return self.answer


@define
class FakeDriver:
    """Has links that stay for a while after it was stopped."""

    links: int = 0
    stopped: bool = False

    def stop(self) -> None:
        self.stopped = True

    def open_links(self) -> int:
        return self.links


class FakeReactor(Clock):
    """A clock that can be told to stop."""

    running = True
    stops = 0

    def __init__(self) -> None:
        super().__init__()
        self.when_running: list[Callable[[], object]] = []

    def callWhenRunning(self, call: Callable[..., object], *args: Any) -> None:
        self.when_running.append(partial(call, *args))

    def start(self) -> None:
        """Begin to run."""
        while self.when_running:
            self.when_running.pop(0)()

    def stop(self) -> None:
        self.running = False
        self.stops += 1


@define
class FakeStart:
    """Keeps what it is told of a start."""

    complaints: list[str] = field(factory=list)
    successes: int = 0

    def succeeded(self) -> None:
        self.successes += 1

    def failed(self, text: str) -> None:
        self.complaints.append(text)


@define
class ServiceParts:
    """A service and its surroundings."""

    service: ProxyService
    port: FakePort
    driver: FakeDriver
    reactor: FakeReactor
    start: FakeStart
    notified: list[str] = field(factory=list)


class ServiceTestCase(SynchronousTestCase):
    """Makes services that open nothing."""

    def parts(
        self,
        *,
        address: Any = HERE,
        answer: Deferred[Any] | None = None,
        open_to_all: bool = False,
        ready_file: Path | None = None,
    ) -> ServiceParts:
        port, driver, reactor = FakePort(address), FakeDriver(), FakeReactor()
        start = FakeStart()
        made: Any = ProxyService(
            endpoint=FakeEndpoint(answer or succeed(port)),  # type: ignore[arg-type] # a fake
            site=None,  # type: ignore[arg-type] # the fake endpoint does not look at it
            driver=driver,
            reactor=reactor,
            open_to_all=open_to_all,
            ready_file=str(ready_file) if ready_file else None,
            banner=lambda url: [f"here: {url}"],
            start=start,
        )
        parts = ServiceParts(made, port, driver, reactor, start)
        self.patch(service, "notify", lambda state, _: parts.notified.append(state))
        self.patch(made, "_handle_signals", lambda: parts.notified.append("signals"))
        return parts

    def refused(self, parts: ServiceParts) -> str:
        """Start a service that must not start; give its one complaint."""
        ended = self.assertRaises(SystemExit, parts.service.privilegedStartService)
        self.assertEqual(ended.code, 1)
        self.assertEqual(parts.notified, [])
        (complaint,) = parts.start.complaints
        return complaint


class StartTests(ServiceTestCase):
    """Coming up."""

    def test_ready(self) -> None:
        """A service that listens and takes signals says so to systemd and in the ready file."""
        path = Path(self.mktemp())
        parts = self.parts(ready_file=path)
        parts.service.privilegedStartService()
        self.assertFalse(path.exists())
        parts.reactor.start()
        self.assertEqual(parts.notified, ["signals", "READY=1"])
        expected = {"url": "http://127.0.0.1:4310", "pid": os.getpid()}
        self.assertEqual(json.loads(path.read_text()), expected)
        self.assertTrue(path.read_text().endswith("}\n"))
        self.assertEqual(list(path.parent.glob(f"{path.name}.*")), [])

    def test_listens(self) -> None:
        """Whoever wants to know when it listens is told once, and not of what is refused."""
        parts, listens = self.parts(), Mock()
        self.patch(parts.service, "listens", listens)
        parts.service.privilegedStartService()
        listens.assert_called_once_with(HERE)
        refused = self.parts(address=EVERYWHERE)
        self.patch(refused.service, "listens", listens)
        self.refused(refused)
        listens.assert_called_once_with(HERE)

    def test_ready_file_in_the_way(self) -> None:
        """A directory in the place of the ready file ends the start with one line."""
        path = Path(self.mktemp())
        path.mkdir()
        self.assertIn("no plain file", self.refused(self.parts(ready_file=path)))

    def test_second_start(self) -> None:
        """A start that finds the port taken leaves the ready file of the running service."""
        path = Path(self.mktemp())
        text = json.dumps({"url": "http://127.0.0.1:4310", "pid": os.getppid()})
        path.write_text(text)
        taken = CannotListenError("127.0.0.1", 4310, OSError(98, "Address already in use"))
        parts = self.parts(ready_file=path, answer=fail(taken))
        self.refused(parts)
        self.successResultOf(parts.service.stopService())
        self.assertEqual(path.read_text(), text)

    def test_old_ready_file(self) -> None:
        """A ready file of an earlier run is gone before we listen."""
        path = Path(self.mktemp())
        path.write_text("old")
        parts = self.parts(ready_file=path, answer=Deferred())
        parts.service.privilegedStartService()
        self.assertFalse(path.exists())

    def test_unwritable_ready_file(self) -> None:
        """A ready file that cannot be written ends the start with that reason."""
        message = self.refused(self.parts(ready_file=Path(self.mktemp()) / "missing" / "file"))
        self.assertIn("--ready-file", message)
        self.assertIn("cannot be written", message)

    def test_urls(self) -> None:
        """The base URL is how people reach the service."""
        for address, url in [
            (EVERYWHERE, "http://127.0.0.1:4310"),
            (IPv6Address("TCP", "::", 4310), "http://[::1]:4310"),
            (IPv6Address("TCP", "::1", 4310), "http://[::1]:4310"),
            (IPv4Address("TCP", "192.0.2.7", 80), "http://192.0.2.7:80"),
        ]:
            path = Path(self.mktemp())
            parts = self.parts(address=address, open_to_all=True, ready_file=path)
            parts.service.privilegedStartService()
            parts.reactor.start()
            self.assertEqual(json.loads(path.read_text())["url"], url)


class SuccessTests(ServiceTestCase):
    """Who is told that the start is complete."""

    def test_after_privileges(self) -> None:
        """A start is complete behind twistd's shedding of privileges and the ready file."""
        ready_file = Path(self.mktemp())
        parts = self.parts(ready_file=ready_file)
        parts.service.privilegedStartService()
        parts.service.startService()
        self.assertEqual((parts.start.successes, ready_file.exists()), (0, False))
        parts.reactor.start()
        self.assertTrue(ready_file.exists())
        self.assertEqual((parts.start.successes, parts.start.complaints), (1, []))


class LogTests(ServiceTestCase):
    """What the application logs through."""

    def test_ours(self) -> None:
        """The application that the service is given to logs our way."""
        parts = self.parts()
        parts.service.log_observer = silent
        application = Application("any")
        parts.service.setServiceParent(application)
        self.assertIs(ILogObserver(application), silent)

    def test_theirs(self) -> None:
        """Without an observer of ours the application is left as it is."""
        application = Application("any")
        self.parts().service.setServiceParent(application)
        self.assertIsNone(application.getComponent(ILogObserver))


class RefusalTests(ServiceTestCase):
    """Not coming up."""

    def test_port_in_use(self) -> None:
        """A port that is taken ends the process with one line and status 1."""
        taken = CannotListenError("127.0.0.1", 4310, OSError(98, "Address already in use"))
        message = self.refused(self.parts(answer=fail(taken)))
        self.assertIn("cannot listen", message)
        self.assertIn("127.0.0.1:4310", message)
        self.assertIn("Address already in use", message)

    def test_beyond_loopback(self) -> None:
        """Beyond loopback nothing is served without a token, and the line says what to do."""
        for address in (
            EVERYWHERE,
            IPv4Address("TCP", "192.0.2.7", 1),
            IPv6Address("TCP", "::", 1),
        ):
            message = self.refused(self.parts(address=address))
            self.assertIn("--token", message)
            self.assertIn("--insecure", message)

    def test_loopback(self) -> None:
        """All of loopback, and UNIX sockets, need no token."""
        for address in (
            IPv4Address("TCP", "127.8.9.10", 1),
            IPv6Address("TCP", "::1", 1),
            UNIXAddress("/run/x"),
        ):
            parts = self.parts(address=address)
            parts.service.privilegedStartService()
            parts.reactor.start()
            self.assertEqual(parts.notified, ["signals", "READY=1"])

    def test_fault_of_ours(self) -> None:
        """Whatever else goes wrong is logged with its traceback, and ends the start too."""
        self.assertIn("cannot start", self.refused(self.parts(answer=fail(KeyError("odd")))))
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)

    def test_late(self) -> None:
        """An endpoint that fails later stops the reactor."""
        answer: Deferred[Any] = Deferred()
        parts = self.parts(answer=answer)
        parts.service.privilegedStartService()
        answer.errback(OSError("not to be had"))
        self.assertEqual(parts.reactor.stops, 1)
        (complaint,) = parts.start.complaints
        self.assertIn("cannot listen: not to be had; choose another --port", complaint)


class StopTests(ServiceTestCase):
    """Ending."""

    def started(self, links: int) -> tuple[ServiceParts, Path]:
        path = Path(self.mktemp())
        parts = self.parts(ready_file=path)
        parts.service.privilegedStartService()
        parts.reactor.start()
        parts.driver.links = links
        return parts, path

    def test_at_once(self) -> None:
        """With nobody connected the end is immediate, and the ready file goes."""
        parts, path = self.started(links=0)
        self.successResultOf(parts.service.stopService())
        self.assertTrue(parts.port.stopped)
        self.assertTrue(parts.driver.stopped)
        self.assertEqual(parts.notified, ["signals", "READY=1", "STOPPING=1"])
        self.assertFalse(path.exists())

    def test_goodbyes(self) -> None:
        """Clients get a moment for their closing handshakes."""
        parts, _ = self.started(links=1)
        ended = parts.service.stopService()
        self.assertTrue(parts.driver.stopped)
        parts.reactor.advance(0.1)
        self.assertNoResult(ended)
        parts.driver.links = 0
        parts.reactor.advance(0.1)
        self.successResultOf(ended)
        self.assertEqual(parts.reactor.getDelayedCalls(), [])

    def test_no_goodbye(self) -> None:
        """A client that does not say goodbye holds up the end for two seconds at most."""
        parts, _ = self.started(links=1)
        ended = parts.service.stopService()
        parts.reactor.pump([0.1] * 19)
        self.assertNoResult(ended)
        parts.reactor.pump([0.1] * 2)
        self.successResultOf(ended)

    def test_export(self) -> None:
        """The export ends when all requests are settled, and the end waits for it."""
        parts, _ = self.started(links=0)
        exported: Deferred[None] = Deferred()
        parts.service.stop_export = lambda: exported if parts.driver.stopped else succeed(None)
        ended = parts.service.stopService()
        self.assertNoResult(ended)
        exported.callback(None)
        self.successResultOf(ended)

    def test_never_listened(self) -> None:
        """What never came up can be stopped all the same."""
        events = self.capture()
        self.successResultOf(self.parts(answer=Deferred()).service.stopService())
        self.assertEqual(events, [])

    def test_log(self) -> None:
        """One line of the log says that the service has stopped."""
        parts, _ = self.started(links=1)
        events = self.capture()
        ended = parts.service.stopService()
        self.assertEqual(events, [])
        parts.driver.links = 0
        parts.reactor.advance(0.1)
        self.successResultOf(ended)
        self.assertEqual([formatEvent(event) for event in events], ["trafficmock stopped"])

    def capture(self) -> list[LogEvent]:
        """Collect what the service logs from now on."""
        events: list[LogEvent] = []
        observer: Any = events.append
        self.patch(ProxyService, "log", Logger("trafficmock", observer=observer))
        return events
