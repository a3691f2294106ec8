"""Saying hello to a proxy before an application does."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, Request, TextMessage

from trafficmock.attach.hello_probe import check_welcome
from trafficmock.attach.proxy_variables import ProxyAddress
from trafficmock.attach.rest_probe import AttachError

SECONDS = 5


@contextmanager
def coordinator(answer: str | bytes, received: list[str]) -> Iterator[ProxyAddress]:
    """Take one connection and answer its ``hello``; bytes stand for the handshake's answer.

    :param received: gets what the client said.
    """
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(SECONDS)

    def serve() -> None:
        link, _ = server.accept()
        link.settimeout(SECONDS)
        with link:
            if isinstance(answer, bytes):
                link.recv(65536)
                link.sendall(answer)
                return
            connection = WSConnection(ConnectionType.SERVER)
            while not received:
                connection.receive_data(link.recv(65536))
                for event in connection.events():
                    if isinstance(event, Request):
                        link.sendall(connection.send(AcceptConnection()))
                    elif isinstance(event, TextMessage):
                        received.append(event.data)
            link.sendall(connection.send(TextMessage(data=answer)))

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield ProxyAddress("http", "127.0.0.1", server.getsockname()[1], "shop", "s3cret")
    finally:
        thread.join()
        server.close()


class WelcomeTests(SynchronousTestCase):
    """Whether a client is let in."""

    def refusal(self, code: str) -> str:
        answer = json.dumps({"type": "hello:error", "code": code, "message": "No."})
        with coordinator(answer, []) as address:
            return str(self.assertRaises(AttachError, check_welcome, address))

    def test_let_in(self) -> None:
        """A proxy that says welcome gets the hello of an agent."""
        received: list[str] = []
        with coordinator('{"type":"hello:ok","protocolVersion":3}', received) as address:
            check_welcome(address)
        hello = json.loads(received[0])
        self.assertEqual(
            (hello["role"], hello["clientId"], hello["token"]), ("node", "shop", "s3cret")
        )

    def test_refused(self) -> None:
        """A refusal is passed on, without the token."""
        message = self.refusal("unauthorized")
        self.assertIn("does not accept this token", message)
        self.assertNotIn("s3cret", message)
        self.assertIn("refuses agents: No.", self.refusal("protocol_mismatch"))

    def test_nobody(self) -> None:
        """Where nobody answers nothing is said: the application finds out, and waits."""
        check_welcome(ProxyAddress("http", "127.0.0.1", 2))

    @given(st.one_of(st.text(max_size=30), st.binary(max_size=60)))
    def test_nonsense(self, answer: str | bytes) -> None:
        """A server that says anything else neither refuses nor breaks the command."""
        with coordinator(answer, []) as address:
            check_welcome(address)
