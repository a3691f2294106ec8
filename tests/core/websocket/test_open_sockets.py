"""Open WebSockets: passed on between owner and application, until something ends them."""

from tests.core.websocket.test_websocket_routing import CLAIM, OWNER, SEEN, WithWorker
from tests.support.builders import ANY, open_socket, text
from tests.support.playbook import Peer
from trafficmock.core.effects import Send
from trafficmock.records import SocketActivity, SocketClosed, SocketFailed
from trafficmock.wire import inbound, outbound

Close = inbound.ClosePage | inbound.CloseServer


class Opened(WithWorker):
    """A WebSocket with an owner."""

    def setUp(self) -> None:
        super().setUp()
        self.test.route("ws://h.test/**", kind="websocket")
        self.before = self.playbook.tables()
        self.agent.sends(open_socket())
        self.playbook.take()
        self.worker.sends(self.claims("buys#1"))
        self.playbook.take()

    def frame(self, direction: str, detail: str | None, data: str = "hi") -> SocketActivity:
        return SocketActivity("s1", direction, "frame", detail, data, is_base64=False)  # type: ignore[arg-type]

    def act(self, detail: str) -> SocketActivity:
        return SocketActivity("s1", "system", "handler", detail, None, is_base64=None)

    def closes(
        self, sender: Peer, message: Close, *, recorded: bool = True, to_other: bool = True
    ) -> None:
        """Check that a close reaches the other side, and whether it is recorded."""
        other = self.worker if sender is self.agent else self.agent
        side = "page" if isinstance(message, inbound.ClosePage) else "server"
        code = message.code if isinstance(message.code, int) else None
        reason = message.reason if isinstance(message.reason, str) else None
        record = SocketClosed("s1", side, code, reason, message.was_clean)  # type: ignore[arg-type]
        expected = ([record] if recorded else []) + ([other.gets(message)] if to_other else [])
        self.sends(sender, message, *expected)


class TrafficTests(Opened):
    """Frames, acts and closes between owner and application."""

    def test_mock(self) -> None:
        """A mock sends, is opened, and gets the application's frames."""
        hello = inbound.SendToPage("s1", "hi", is_base64=False)
        sent = self.frame("server", "handler sendToPage")
        self.sends(self.worker, hello, sent, self.agent.gets(hello))
        opened = inbound.SocketEnsureOpened("s1")
        self.sends(self.worker, opened, self.act("ensureOpened"), self.agent.gets(opened))
        message = inbound.MessageFromPage("s1", "hi", is_base64=False)
        self.sends(self.agent, message, self.frame("client", None), self.worker.gets(message))

    def test_relay(self) -> None:
        """A connected handler gets the server's frames and sends to the server."""
        connect = inbound.SocketConnect("s1")
        self.sends(self.worker, connect, self.act("connect"), self.agent.gets(connect))
        message = inbound.MessageFromServer("s1", "hi", is_base64=False)
        self.sends(self.agent, message, self.frame("server", None), self.worker.gets(message))
        sent = inbound.SendToServer("s1", "hi", is_base64=False)
        record = self.frame("client", "handler sendToServer")
        self.sends(self.worker, sent, record, self.agent.gets(sent))

    def test_application_closes(self) -> None:
        """All the echoes are passed on, one close is recorded a side, then it is forgotten."""
        self.worker.sends(inbound.SocketConnect("s1"))
        self.playbook.take()
        page = inbound.ClosePage("s1", was_clean=True, code=1000, reason="bye")
        server = inbound.CloseServer("s1", was_clean=True, code=1000, reason="bye")
        self.closes(self.agent, page)
        self.closes(self.worker, server)
        self.closes(self.agent, server, recorded=False)
        self.closes(self.worker, page, recorded=False)
        self.closes(self.agent, page, recorded=False)
        self.playbook.wait(4.9)
        self.closes(self.agent, server, recorded=False)
        self.playbook.wait(0.1)
        self.playbook.expect()
        self.assertEqual(self.playbook.tables(), self.before)
        self.sends(self.agent, page)
        self.sends(self.worker, page)

    def test_server_closes(self) -> None:
        """A dead upstream is reported twice by the agent, and recorded once."""
        self.worker.sends(inbound.SocketConnect("s1"))
        self.playbook.take()
        dead = inbound.CloseServer("s1", was_clean=False, code=1006)
        self.closes(self.agent, dead)
        self.closes(self.agent, dead, recorded=False)
        self.closes(self.worker, inbound.ClosePage("s1", was_clean=False))
        self.playbook.wait(60)
        self.playbook.expect()
        self.closes(self.agent, inbound.ClosePage("s1", was_clean=True), recorded=False)
        self.playbook.wait(5)
        self.playbook.expect()
        self.assertEqual(self.playbook.tables(), self.before)

    def test_id_is_free_afterwards(self) -> None:
        """After the grace time the id may be used again."""
        self.closes(self.agent, inbound.ClosePage("s1", was_clean=True))
        self.playbook.wait(5)
        self.sends(self.agent, open_socket(), SEEN, self.worker.gets(CLAIM))


class EndTests(Opened):
    """What ends an open WebSocket from outside; what was closed properly stays as it is."""

    def connect(self) -> None:
        self.worker.sends(inbound.SocketConnect("s1"))
        self.playbook.take()

    def close_by_page(self) -> None:
        self.closes(self.agent, inbound.ClosePage("s1", was_clean=True))

    def test_test_ends(self) -> None:
        """A mocked socket is closed with 1001, recorded, and the end acknowledged."""
        self.test.ends()
        close = inbound.ClosePage("s1", was_clean=True, code=1001, reason="The test ended.")
        closed = SocketClosed("s1", "page", 1001, "The test ended.", was_clean=True)
        self.playbook.expect(closed, self.agent.gets(close), self.test.ended())

    def test_test_ends_connected(self) -> None:
        """Both sides of a connected socket are closed."""
        self.connect()
        self.test.ends()
        records = [each for each in self.playbook.take() if isinstance(each, SocketClosed)]
        self.assertEqual([each.side for each in records], ["page", "server"])

    def test_test_ends_after_the_server(self) -> None:
        """The side that the server closed is not closed again."""
        self.connect()
        self.closes(self.agent, inbound.CloseServer("s1", was_clean=True))
        self.test.ends()
        close = inbound.ClosePage("s1", was_clean=True, code=1001, reason="The test ended.")
        closed = SocketClosed("s1", "page", 1001, "The test ended.", was_clean=True)
        self.playbook.expect(closed, self.agent.gets(close), self.test.ended())

    def test_test_ends_after_the_close(self) -> None:
        """What the application closed is not closed again."""
        self.close_by_page()
        self.test.ends()
        self.playbook.expect(self.test.ended())

    def test_worker_lost(self) -> None:
        """The application's socket fails; the record keeps the owner."""
        self.worker.dies()
        message = text('"buys"', "disconnected")
        self.playbook.expect(
            SocketFailed("s1", OWNER, "disconnected", message, None),
            self.agent.gets(outbound.SocketError("s1", "disconnected", message)),
        )

    def test_worker_lost_connected(self) -> None:
        """The real server is left as well."""
        self.connect()
        self.worker.dies()
        close = inbound.CloseServer("s1", was_clean=False, code=1011)
        self.assertEqual(self.playbook.take()[0], self.agent.gets(close))

    def test_worker_lost_after_the_close(self) -> None:
        """A socket that was closed properly does not become an error."""
        self.close_by_page()
        self.worker.dies()
        self.playbook.expect()

    def test_agent_lost(self) -> None:
        """The owner is told by a close that was not clean."""
        self.agent.dies()
        close = inbound.ClosePage("s1", was_clean=False, code=1006, reason=ANY)
        failed = SocketFailed("s1", OWNER, "disconnected", text("'app'"), None)
        self.playbook.expect(failed, self.worker.gets(close))
        self.assertNotIn("s1", str(self.playbook.tables()))

    def test_agent_lost_connected(self) -> None:
        """Both sides are gone then."""
        self.connect()
        self.agent.dies()
        sent = [each.message for each in self.playbook.take() if isinstance(each, Send)]
        self.assertEqual([type(each) for each in sent], [inbound.ClosePage, inbound.CloseServer])

    def test_agent_lost_after_the_close(self) -> None:
        """A socket that was closed properly does not become an error."""
        self.close_by_page()
        self.agent.dies()
        self.playbook.expect()

    def test_service_stops(self) -> None:
        """When the service ends, open sockets fail and closed ones do not."""
        self.agent.sends(open_socket("s2"))
        self.playbook.take()
        self.close_by_page()
        self.playbook.stop()
        failed = [each for each in self.playbook.take() if isinstance(each, SocketFailed)]
        self.assertEqual([each.socket_id for each in failed], ["s2"])

    def test_somebody_elses_frames(self) -> None:
        """Frames, acts and closes for a socket of others go nowhere."""
        thief = self.playbook.worker("9")
        other = self.playbook.agent("other")
        for message in (
            inbound.SendToPage("s1", "x", is_base64=False),
            inbound.SendToServer("s1", "x", is_base64=False),
            inbound.SocketConnect("s1"),
            inbound.SocketEnsureOpened("s1"),
            inbound.ClosePage("s1", was_clean=True),
            inbound.CloseServer("s1", was_clean=True),
        ):
            self.sends(thief, message)
        for reason in (
            inbound.MessageFromPage("s1", "x", is_base64=False),
            inbound.MessageFromServer("s1", "x", is_base64=False),
            inbound.ClosePage("s1", was_clean=True),
            inbound.CloseServer("s1", was_clean=True),
        ):
            self.sends(other, reason)
