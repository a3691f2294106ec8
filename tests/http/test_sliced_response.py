"""Long answers leave in slices: nobody waits for them, and they stay sound."""

import json
from collections.abc import Iterator
from unittest import mock

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.support.http_client import Connection, Service, ids, parse, record
from trafficmock import records
from trafficmock.history.store import History
from trafficmock.http.sliced_response import SLICE_BYTES, STALL_SECONDS

HEAD = b"\r\nhost: localhost:4310\r\n\r\n"
BODY = b"x" * (SLICE_BYTES // 4)


class TickingClock(Clock):
    """A clock on which every look takes a millisecond, as work would."""

    def seconds(self) -> float:
        self.rightNow += 0.001
        return float(self.rightNow)


def filled(count: int = 12, body: bytes = BODY) -> Service:
    made = Service(history=History(byte_limit=0))
    for n in range(count):
        record(made.history, f"n{n}", body=body, at=n)
    return made


def ask(made: Service, target: str, method: str = "GET", version: str = "1.1") -> Connection:
    """Ask without letting the clock run."""
    connection = made.connect()
    request = f"{method} {target} HTTP/{version}".encode() + HEAD
    connection.transport.protocol.dataReceived(request)
    return connection


class SlicedTests(SynchronousTestCase):
    """The slices of one answer."""

    def test_small(self) -> None:
        """What fits into one slice is there at once, with its length, and nothing is left to do."""
        made = filled(count=3, body=b"x")
        answer = ask(made, "/api/history").take()
        self.assertEqual(answer.headers["content-length"], str(len(answer.body)))
        self.assertEqual(len(list(ids(answer))), 3)

    def test_long(self) -> None:
        """A long list is written a slice at a time, and the reactor runs in between."""
        made = filled()
        connection = ask(made, "/api/history")
        sizes = [len(connection.transport.value())]
        while connection.step():
            sizes.append(len(connection.transport.value()))
        steps = [after - before for before, after in zip([0, *sizes], sizes, strict=False)]
        self.assertGreater(len(steps), 3)
        self.assertLess(max(steps), 2 * SLICE_BYTES)
        answer = connection.take()
        self.assertEqual(answer.headers["transfer-encoding"], "chunked")
        self.assertEqual(list(ids(answer)), [f"n{n}" for n in reversed(range(12))])

    def test_one_long_body(self) -> None:
        """A single body longer than a slice is cut into slices, too."""
        made = filled(count=1, body=BODY * 12)
        connection = ask(made, "/api/history/n0")
        self.assertLess(len(connection.transport.value()), 2 * SLICE_BYTES)
        connection.turn()
        entry = connection.take().json()["entry"]
        self.assertEqual(len(entry["request"]["bodyBase64"]), len(BODY) * 12 // 3 * 4)

    def test_http_1_0(self) -> None:
        """An old client gets the same without chunks, and the connection is closed at the end."""
        made = filled()
        connection = ask(made, "/api/history", version="1.0")
        connection.turn()
        self.assertTrue(connection.transport.disconnecting)
        answer = connection.take()
        self.assertNotIn("transfer-encoding", answer.headers)
        self.assertEqual(len(list(ids(answer))), 12)

    def test_head(self) -> None:
        """HEAD of a long list gives the length that the body would have."""
        made = filled()
        connection = ask(made, "/api/history", method="HEAD")
        connection.turn()
        head = connection.take("HEAD")
        self.assertEqual(head.body, b"")
        length = len(made.ask("/api/history").body)
        self.assertEqual(head.headers["content-length"], str(length))

    def test_search_gives_way(self) -> None:
        """A search that finds little stops when its time is over and still answers in one write."""
        made = Service(clock=TickingClock())
        for n in range(500):
            record(made.history, f"n{n}", body=b"needle" if n == 250 else b"hay", at=n)
        connection = ask(made, "/api/history?q=needle")
        self.assertEqual(connection.transport.value(), b"")
        self.assertTrue(made.clock.calls)
        connection.turn()
        answer = connection.take()
        self.assertEqual(list(ids(answer)), ["n250"])
        self.assertEqual(answer.headers["content-length"], str(len(answer.body)))

    def test_pipelined(self) -> None:
        """A second request on the connection is answered after the first, not in it."""
        made = filled()
        connection = ask(made, "/api/history")
        connection.send(b"GET /health HTTP/1.1" + HEAD)
        data = connection.transport.value()
        self.assertEqual(len(list(ids(parse(data)))), 12)
        self.assertTrue(parse(data[data.rindex(b"HTTP/1.1 200") :]).json()["ok"])


class ChangeTests(SynchronousTestCase):
    """The history goes on while an answer is on its way."""

    def test_evicted(self) -> None:
        """Entries that go meanwhile are left out or whole: the JSON is sound, without doubles."""
        made = filled()
        connection = ask(made, "/api/history")
        for n in range(1000):
            record(made.history, f"m{n}", at=1000 + n)
            if n % 100 == 0:
                connection.step()
        connection.turn()
        listed = list(ids(connection.take()))
        self.assertEqual(len(listed), len(set(listed)))
        self.assertEqual(listed[:3], ["n11", "n10", "n9"])

    def test_changed(self) -> None:
        """An entry that changes while it is being sent is sent as it was."""
        made = filled(count=1, body=BODY * 12)
        request = made.history.requests.get("n0").record.request  # type: ignore[union-attr]
        made.history.record(records.RequestSeen("p", "api", request), 1)
        connection = ask(made, "/api/history/n0")
        made.history.requests.get("n0").cut(made.history.requests.get("n0").request_body)  # type: ignore[union-attr]
        connection.turn()
        self.assertEqual(connection.take().json()["entry"]["id"], "n0")


class SlowReaderTests(SynchronousTestCase):
    """Clients that do not read, or go."""

    def test_paused(self) -> None:
        """Nothing is made while the client does not read; when it does, the rest follows."""
        made = filled()
        connection = ask(made, "/api/history")
        producer = connection.transport.producer
        assert producer is not None
        producer.pauseProducing()
        size = len(connection.transport.value())
        made.clock.advance(STALL_SECONDS / 2)
        self.assertEqual(len(connection.transport.value()), size)
        producer.resumeProducing()
        connection.turn()
        self.assertEqual(len(list(ids(connection.take()))), 12)

    def test_stalled(self) -> None:
        """A client that reads nothing for too long is cut off, and nothing is left."""
        made = filled()
        connection = ask(made, "/api/history")
        assert connection.transport.producer is not None
        connection.transport.producer.pauseProducing()
        made.clock.advance(STALL_SECONDS)
        self.assertTrue(connection.transport.aborted)
        connection.lose()
        self.assertEqual(made.clock.getDelayedCalls(), [])

    def test_gone(self) -> None:
        """When the client goes, the work ends, and nothing is left or logged."""
        for path in ("/api/history", "/api/history?q=nowhere"):
            made = Service(clock=TickingClock(), history=filled().history)
            connection = ask(made, path)
            connection.lose()
            size = len(connection.transport.value())
            self.assertEqual(made.clock.getDelayedCalls(), [])
            connection.turn()
            self.assertEqual(len(connection.transport.value()), size)
            self.assertEqual(made.site.connections.open, 0)


class FaultTests(SynchronousTestCase):
    """Faults of ours while an answer is made."""

    def broken(self, before: list[bytes]) -> Service:
        made = filled(count=1)

        def chunks() -> Iterator[bytes]:
            yield from before
            raise ZeroDivisionError

        entry = mock.Mock(chunks=chunks, revision=1)
        self.patch(made.history, "requests", mock.Mock(get=lambda _: entry))
        return made

    def test_before_the_first_byte(self) -> None:
        """When nothing has been sent, it is a 500."""
        answer = self.broken([b"{"]).ask("/api/history/n0")
        self.assertEqual((answer.status, json.loads(answer.body)["error"]), (500, "internal"))
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)

    def test_halfway(self) -> None:
        """When something has been sent, the connection is cut: nobody takes it for whole."""
        made = self.broken([b"x" * SLICE_BYTES, b"y"])
        connection = ask(made, "/api/history/n0")
        connection.turn()
        self.assertTrue(connection.transport.aborted)
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)
        connection.lose()
        self.assertEqual(made.clock.getDelayedCalls(), [])
