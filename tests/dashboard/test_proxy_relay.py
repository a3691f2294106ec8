"""What pages get: the proxy's answers as they come, and plain words when there are none."""

import gzip
from typing import Any

from twisted.internet.defer import CancelledError
from twisted.internet.error import ConnectionLost, ConnectionRefusedError  # noqa: A004 - Twisted's name
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.client import ResponseFailed
from twisted.web.http_headers import Headers

from tests.dashboard.fakes import Dashboard, taken
from trafficmock.dashboard.proxy_client import ANSWER_SECONDS


def json_headers(**more: str) -> Headers:
    headers = Headers({"content-type": ["application/json"]})
    for name, value in more.items():
        headers.setRawHeaders(name.replace("_", "-"), [value])
    return headers


class RelayTests(SynchronousTestCase):
    """Answers that are passed on."""

    def test_question(self) -> None:
        """Path, query, tag and method reach the proxy as they are; cookies do not."""
        made = Dashboard()
        made.open("/api/history/a%2Fb?x=%20", if_none_match='"s-1"', cookie="c=1", method="HEAD")
        ((method, url, headers),) = made.agent.asked
        self.assertEqual(method, b"HEAD")
        self.assertEqual(url, b"http://127.0.0.1:4310/api/history/a%2Fb?x=%20")
        sent = {b"If-None-Match": [b'"s-1"'], b"Accept-Encoding": [b"gzip"]}
        self.assertEqual(dict(headers.getAllRawHeaders()), sent)

    def test_compressed(self) -> None:
        """What the proxy compressed is decoded as it arrives, without its length."""
        made = Dashboard()
        connection = made.open("/api/history")
        packed = gzip.compress(b'{"entries":[]}')
        headers = json_headers(content_encoding="gzip")
        response = made.agent.answer(headers=headers, length=len(packed))
        response.send(packed)
        response.end()
        self.assertEqual(taken(connection).json(), {"entries": []})

    def test_answer(self) -> None:
        """Status, tag, file name and body are passed on, the body as it arrives."""
        made = Dashboard()
        connection = made.open("/api/history/a/har")
        response = made.agent.answer(
            headers=json_headers(etag='"s-2"', content_disposition="attachment", server="x")
        )
        response.send(b'{"log":')
        self.assertIn(b'{"log":', connection.transport.value())
        response.send(b"{}}")
        response.end()
        answer = taken(connection)
        self.assertEqual((answer.status, answer.json()), (200, {"log": {}}))
        self.assertEqual(answer.headers["etag"], '"s-2"')
        self.assertEqual(answer.headers["content-disposition"], "attachment")
        self.assertEqual(answer.headers["server"], "trafficmock-dashboard/1.2.3")
        self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
        self.assertEqual(made.relay.open_links(), 0)

    def test_not_modified(self) -> None:
        """A 304 stays one, and is small: an idle poll moves under 1 KB."""
        made = Dashboard()
        connection = made.open("/api/history", if_none_match='"s-1"')
        made.agent.answer(code=304, headers=Headers({"etag": ['"s-1"']})).end()
        answer = taken(connection)
        self.assertEqual((answer.status, answer.headers["etag"]), (304, '"s-1"'))
        self.assertLess(len(connection.transport.value()), 500)

    def test_errors_of_the_proxy(self) -> None:
        """What the proxy refuses is passed on in its words."""
        made = Dashboard()
        connection = made.open("/api/history?limit=x")
        response = made.agent.answer(code=400, phrase=b"Bad Request", length=3)
        response.send(b"{ }")
        response.end()
        answer = taken(connection)
        self.assertEqual((answer.status, answer.headers["content-length"]), (400, "3"))

    def test_health_of_the_proxy(self) -> None:
        """/proxy/health is the proxy's own."""
        made = Dashboard()
        made.open("/proxy/health")
        self.assertEqual(made.agent.asked[0][1], b"http://127.0.0.1:4310/health")

    def test_slow_page(self) -> None:
        """A page that does not read holds the proxy up, and not our memory; nobody times out."""
        made = Dashboard()
        connection = made.open("/api/history")
        response = made.agent.answer()
        response.send(b"x")
        producer: Any = connection.transport.producer
        producer.pauseProducing()
        self.assertEqual(response.source.producerState, "paused")
        made.clock.advance(1000)
        self.assertFalse(response.source.disconnecting)
        producer.resumeProducing()
        self.assertEqual(response.source.producerState, "producing")

    def test_page_leaves(self) -> None:
        """A page that leaves ends the question, before and within the answer."""
        made = Dashboard()
        connection = made.open("/api/history")
        connection.lose()
        self.assertEqual(made.agent.cancelled, 1)
        made.agent.waiting.clear()
        connection = made.open("/api/history")
        response = made.agent.answer()
        connection.lose()
        self.assertTrue(response.source.disconnecting)
        self.assertEqual(made.relay.open_links(), 0)

    def test_stop(self) -> None:
        """At the end all questions are given up."""
        made = Dashboard()
        made.open("/api/history")
        made.relay.stop()
        self.assertEqual((made.agent.cancelled, made.relay.open_links()), (1, 0))


class TroubleTests(SynchronousTestCase):
    """Answers that do not come."""

    def test_away(self) -> None:
        """A proxy that is not there is a 502 that says where it was looked for."""
        for error in (ConnectionRefusedError(), ResponseFailed([]), ConnectionLost()):
            made = Dashboard()
            connection = made.open("/api/history")
            made.agent.fail(error)
            answer = taken(connection)
            self.assertEqual((answer.status, answer.json()["error"]), (502, "proxy_unavailable"))
            self.assertIn("http://127.0.0.1:4310", answer.json()["message"])

    def test_silent(self) -> None:
        """A proxy that takes the question and says nothing is a 504 after a while."""
        made = Dashboard()
        connection = made.open("/api/history")
        made.clock.advance(ANSWER_SECONDS)
        answer = taken(connection)
        self.assertEqual((answer.status, answer.json()["error"]), (504, "proxy_timeout"))
        self.assertEqual(made.agent.cancelled, 1)

    def test_another_server(self) -> None:
        """What is no proxy is said to be none, and nothing of it reaches the page."""
        made = Dashboard()
        connection = made.open("/api/history")
        response = made.agent.answer(headers=Headers({"content-type": ["text/html"]}))
        answer = taken(connection)
        self.assertEqual((answer.status, answer.json()["error"]), (502, "not_a_proxy"))
        self.assertTrue(response.source.disconnecting)

    def test_broken_off(self) -> None:
        """An answer that breaks off ends the page's connection: it must not look whole."""
        made = Dashboard()
        connection = made.open("/api/history")
        response = made.agent.answer()
        response.send(b'{"entries":[')
        response.end(ResponseFailed([]))
        self.assertTrue(connection.transport.disconnecting)

    def test_stalled(self) -> None:
        """An answer in the middle of which nothing comes any more is given up."""
        made = Dashboard()
        made.open("/api/history")
        response = made.agent.answer()
        response.send(b"[")
        made.clock.advance(20)
        response.send(b"1")
        made.clock.advance(20)
        self.assertFalse(response.source.disconnecting)
        made.clock.advance(20)
        self.assertTrue(response.source.disconnecting)

    def test_fault(self) -> None:
        """An internal error is a 500, logged, without its traceback."""
        made = Dashboard()
        connection = made.open("/api/history")
        made.agent.fail(KeyError("secret"))
        answer = taken(connection)
        self.assertEqual((answer.status, answer.json()["error"]), (500, "internal"))
        self.assertNotIn(b"secret", answer.body)
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)

    def test_head(self) -> None:
        """An error has no body for HEAD."""
        made = Dashboard()
        connection = made.open("/api/history", method="HEAD")
        made.agent.fail(ConnectionLost())
        self.assertEqual(taken(connection, "HEAD").status, 502)
        self.assertTrue(connection.transport.value().endswith(b"\r\n\r\n"))


class StateTests(SynchronousTestCase):
    """/state: whether anything changed, in one small answer."""

    def answer_all(self, made: Dashboard, **tags: str) -> None:
        for name in ("history", "ws", "connections"):
            headers = json_headers(etag=tags[name]) if name in tags else json_headers()
            response = made.agent.answer(headers=headers)
            response.send(b"{}")
            response.end()

    def test_tags(self) -> None:
        """It has the tags of both lists, and one of the connections, and asks for no entry."""
        made = Dashboard()
        connection = made.open("/state")
        targets = [url.removeprefix(b"http://127.0.0.1:4310") for _, url, _ in made.agent.asked]
        self.assertEqual(
            targets,
            [
                b"/api/history?fields=summary&limit=0",
                b"/api/ws?fields=summary&limit=0",
                b"/api/connections?fields=tests",
            ],
        )
        self.answer_all(made, history='"s-1"', ws='"s-2"')
        state = taken(connection).json()
        self.assertEqual((state["history"], state["ws"]), ('"s-1"', '"s-2"'))
        self.assertEqual(len(state["connections"]), 12)

    def test_idle(self) -> None:
        """While nothing changes a poll is a 304 of a few hundred bytes; a change ends that."""
        made = Dashboard()
        connection = made.open("/state")
        self.answer_all(made, history='"s-1"', ws='"s-2"')
        tag = taken(connection).headers["etag"]
        connection = made.open("/state", if_none_match=tag)
        self.answer_all(made, history='"s-1"', ws='"s-2"')
        self.assertEqual(taken(connection).status, 304)
        self.assertLess(len(connection.transport.value()), 500)
        connection = made.open("/state", if_none_match=tag)
        self.answer_all(made, history='"s-3"', ws='"s-2"')
        self.assertEqual(taken(connection).status, 200)

    def test_away(self) -> None:
        """When the proxy is away that is said once, and the other questions are let go."""
        made = Dashboard()
        connection = made.open("/state")
        made.agent.fail(ConnectionRefusedError())
        answer = taken(connection)
        self.assertEqual((answer.status, answer.json()["error"]), (502, "proxy_unavailable"))
        made.agent.fail(ConnectionRefusedError())
        made.agent.fail(CancelledError())
        self.assertEqual(made.relay.open_links(), 0)

    def test_refused(self) -> None:
        """When the proxy refuses, its words are shown."""
        made = Dashboard()
        connection = made.open("/state")
        response = made.agent.answer(code=403)
        response.send(b'{"error":"history_not_open"}')
        response.end()
        answer = taken(connection)
        self.assertEqual((answer.status, answer.json()["error"]), (502, "proxy_refused"))
        self.assertIn("history_not_open", answer.json()["message"])
