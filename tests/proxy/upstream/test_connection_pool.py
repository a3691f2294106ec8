"""Connections kept for the next request."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionRefusedError, TimeoutError  # noqa: A004 - Twisted's
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import ForwardProxyHarness
from trafficmock.proxy.request_target import Origin

A, B = Origin("http", "a.test", 80), Origin("http", "b.test", 80)
TLS = Origin("https", "a.test", 443)


class Checks:
    """A trust that notes whom it checked."""

    def __init__(self, error: Exception | None = None) -> None:
        self.checked: list[str] = []
        self.error = error

    def check_name(self, _: Any, origin: Origin) -> None:
        self.checked.append(origin.host)
        if self.error is not None:
            raise self.error


class KeepTests(SynchronousTestCase):
    """Unused connections."""

    def setUp(self) -> None:
        self.harness = ForwardProxyHarness()
        self.pool = self.harness.resources.pool

    def kept(self, origin: Origin = A) -> Any:
        connection = self.successResultOf(self.pool.connect(origin))
        self.pool.give_back(origin, connection)
        return connection

    def test_same_server(self) -> None:
        """The last one used of the same server is given out again, once."""
        first, second = self.kept(), self.kept()
        self.assertIsNone(self.pool.take(B, repeatable=True))
        self.assertIs(self.pool.take(A, repeatable=True), second)
        self.assertIs(self.pool.take(A, repeatable=True), first)
        self.assertIsNone(self.pool.take(A, repeatable=True))

    def test_fresh(self) -> None:
        """What cannot be sent twice gets only one that was used just before."""
        self.kept()
        self.harness.core.clock.advance(1.5)
        self.assertIsNone(self.pool.take(A, repeatable=False))
        self.assertIsNotNone(self.pool.take(A, repeatable=True))

    def test_closed(self) -> None:
        """After a while it is closed; no timer is left then."""
        self.kept()
        self.harness.core.clock.advance(2)
        self.kept(B)
        self.harness.core.clock.advance(2)
        self.assertTrue(self.harness.servers[0].disconnecting)
        self.assertFalse(self.harness.servers[1].disconnecting)
        self.harness.core.clock.advance(2)
        self.assertTrue(self.harness.servers[1].disconnecting)
        self.assertEqual(self.harness.core.clock.getDelayedCalls(), [])

    def test_lost(self) -> None:
        """One that the server closed is forgotten."""
        self.kept()
        self.harness.servers[0].lose()
        self.assertIsNone(self.pool.take(A, repeatable=True))
        self.assertEqual(self.pool.open, set())

    def test_stop(self) -> None:
        """At the end all are cut."""
        self.kept()
        self.pool.stop()
        self.assertTrue(self.harness.servers[0].aborted)
        self.assertEqual(self.harness.core.clock.getDelayedCalls(), [])


class OpeningTests(SynchronousTestCase):
    """Connections on their way."""

    def opening(self, trust: Any = None) -> tuple[ForwardProxyHarness, Deferred[Any]]:
        harness = ForwardProxyHarness()
        harness.dialer.trust = trust or Checks()
        return harness, harness.resources.pool.connect(TLS)

    def test_tls(self) -> None:
        """With TLS it is ready after the handshake, when the name has been checked."""
        harness, opening = self.opening()
        self.assertNoResult(opening)
        harness.servers[0].protocol.handshakeCompleted()
        self.successResultOf(opening)
        self.assertEqual(harness.dialer.trust.checked, ["a.test"])
        self.assertEqual(harness.core.clock.getDelayedCalls(), [])

    def test_wrong_name(self) -> None:
        """A server that is somebody else is cut off, whatever the check raised."""
        harness, opening = self.opening(Checks(ValueError("x")))
        harness.servers[0].protocol.handshakeCompleted()
        self.failureResultOf(opening, ValueError)
        self.assertTrue(harness.servers[0].aborted)

    def test_silent(self) -> None:
        """A handshake has its time, too."""
        harness, opening = self.opening()
        harness.core.clock.advance(10)
        self.failureResultOf(opening, TimeoutError)
        self.assertTrue(harness.servers[0].aborted)

    def test_given_up(self) -> None:
        """Cancelling cuts a connection that is in its handshake."""
        harness, opening = self.opening()
        opening.cancel()
        self.failureResultOf(opening)
        self.assertTrue(harness.servers[0].aborted)
        self.assertEqual(harness.core.clock.getDelayedCalls(), [])

    def test_refused(self) -> None:
        """What the road says is passed on, as is that there is none."""
        harness = ForwardProxyHarness()
        harness.dialer.error = ConnectionRefusedError()
        self.failureResultOf(harness.resources.pool.connect(A), ConnectionRefusedError)
        harness.dialer.nowhere = ValueError("no such host")
        self.failureResultOf(harness.resources.pool.connect(A), ValueError)
