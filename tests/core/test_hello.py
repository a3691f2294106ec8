"""Who gets in: each row of the handshake, and everything that is said before it."""

import json

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import ANY, claims, fulfill, glob, open_socket, start, text
from tests.support.playbook import SETTINGS, Peer, Playbook, hello_error
from trafficmock.core.effects import Send
from trafficmock.core.hello import VERSIONS_NOTED
from trafficmock.wire import inbound, outbound

HELLO = {
    "type": "hello",
    "protocolVersion": 3,
    "packageVersion": "0.1.0",
    "role": "node",
    "clientId": "app",
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
WITH_TOKEN = evolve(SETTINGS, token="s3cret")


def hello(**changes: object) -> inbound.Hello:
    fields: dict[str, object] = {
        "protocol_version": 3,
        "package_version": "0.1.0",
        "role": "node",
        "client_id": "app",
    }
    return inbound.Hello(**(fields | changes))  # type: ignore[arg-type] # made up on purpose


def welcome(peer: Peer, client_id: str, **more: object) -> object:
    ok = outbound.HelloOk(peer.id, 3, "1.2.3", client_id, **more)  # type: ignore[arg-type]
    return peer.gets(ok)


class HandshakeTests(SynchronousTestCase):
    """``hello`` opens a connection, or is refused with a reason and a close."""

    def refused(self, code: outbound.HelloErrorCode, playbook: Playbook, first: object) -> None:
        """Check that a message is refused, and that nothing that follows is heard."""
        peer = playbook.connect("c1")
        if isinstance(first, str):
            peer.sends_text(first)
        else:
            assert isinstance(first, inbound.Message)
            peer.sends(first)
        playbook.expect(*hello_error(peer, code))
        self.assertEqual(playbook.tables().get(".peers", []), [])
        peer.sends(hello(token="s3cret"))
        playbook.expect()
        peer.dies()
        playbook.expect()
        self.assertEqual(playbook.tables(), {})

    def test_agent(self) -> None:
        """An agent is welcomed under the id it gave."""
        playbook = Playbook(self)
        peer = playbook.connect("c1")
        peer.sends(hello())
        playbook.expect(welcome(peer, "app"))
        (client,) = playbook.coordinator.clients()
        self.assertEqual((client.id, client.client_id), ("c1", "app"))

    def test_roles(self) -> None:
        """A worker is a ``playwright`` or, the same thing, a ``runner``."""
        for role in ("playwright", "runner"):
            playbook = Playbook(self)
            peer = playbook.connect("c1")
            peer.sends(hello(role=role, worker_id="7"))
            playbook.expect(welcome(peer, "app"))
            peer.sends(inbound.TestRegister("t", "t", "f", "7"))
            playbook.expect(peer.gets(outbound.TestRegistered("t")))

    def test_default_id(self) -> None:
        """Without an id, or with an empty one, the role and the connection make one."""
        for offered in (UNSET, ""):
            for role in ("node", "playwright", "runner"):
                playbook = Playbook(self)
                peer = playbook.connect("0123456789")
                peer.sends(hello(role=role, client_id=offered))
                playbook.expect(welcome(peer, f"{role}-0123456789"))

    def test_unprintable_ids(self) -> None:
        """A client id is one line of printable text; every other id is welcome."""
        for name in ("a\nb", "a\r", "\x1b[31m", "\0", "\x7f", "\x85", "a\u2028b", "\ud800"):
            self.refused("invalid_hello", Playbook(self), hello(client_id=name))
        for name in ("my shop: é/1", "日本語", "\u00a0", "👩\u200d💻", "a" * 5000):
            playbook = Playbook(self)
            peer = playbook.connect("c1")
            peer.sends(hello(client_id=name))
            playbook.expect(welcome(peer, name))

    def test_unprintable_id_text(self) -> None:
        """What a refused client is told names the id, escaped and cut, and what to do."""
        playbook = Playbook(self)
        playbook.connect("c1").sends(hello(client_id="\n" + "x" * 500))
        error, _ = playbook.take()
        assert isinstance(error, Send)
        assert isinstance(error.message, outbound.HelloError)
        text = error.message.message
        self.assertIn("The client id '\\nxxx", text)
        self.assertIn("give one line of printable text", text)
        self.assertLess(len(text), 300)

    def test_equal_ids(self) -> None:
        """Several connections may have one client id."""
        playbook = Playbook(self)
        for connection_id in ("c1", "c2"):
            peer = playbook.connect(connection_id)
            peer.sends(hello())
            playbook.expect(welcome(peer, "app"))
        self.assertEqual([client.id for client in playbook.coordinator.clients()], ["c1", "c2"])

    def test_other_protocols(self) -> None:
        """Only protocol 3 is spoken; this is said before the token is looked at."""
        for version in (2, 4, -3, 2**53 - 1):
            message = hello(protocol_version=version, token="wrong")
            self.refused("protocol_mismatch", Playbook(self, WITH_TOKEN), message)

    def test_tokens(self) -> None:
        """With a token set, only that very token opens."""
        for token in ("", "S3CRET", "s3cret ", "s3cre", "\ud800", "s3cre\u0165", "s3cret\0"):
            self.refused("unauthorized", Playbook(self, WITH_TOKEN), hello(token=token))
        self.refused("unauthorized", Playbook(self, WITH_TOKEN), hello())

    def test_right_token(self) -> None:
        """The right token opens, also one that is no valid Unicode."""
        for token in ("s3cret", "\udcff", "пароль"):
            playbook = Playbook(self, evolve(SETTINGS, token=token))
            peer = playbook.connect("c1")
            peer.sends(hello(token=token))
            playbook.expect(welcome(peer, "app"))

    def test_token_without_need(self) -> None:
        """A client may have a token that nobody asks for."""
        playbook = Playbook(self)
        peer = playbook.connect("c1")
        peer.sends(hello(token="whatever"))
        playbook.expect(welcome(peer, "app"))

    def test_malformed(self) -> None:
        """A hello that is not valid is refused, so that its client does not wait for ever."""
        for message in (
            '{"type":"hello","protocolVersion":3,"role":"node"}',
            '{"type":"hello","protocolVersion":3,"packageVersion":"1","role":"node","token":null}',
            '{"type":"hello","protocolVersion":3.5,"packageVersion":"1","role":"node"}',
            '{"type":"nonsense"}',
            "not JSON",
            "",
        ):
            self.refused("invalid_hello", Playbook(self), message)

    def test_anything_before(self) -> None:
        """Nothing but ``hello`` is honoured before ``hello``, and nothing after its refusal."""
        for message in (
            start(),
            open_socket(),
            inbound.TestRegister("t", "t", "f", "0"),
            inbound.RouteRegister("q", "t", glob("**")),
            inbound.HistoryQuery("h"),
            fulfill(),
            claims("r1", "t", "q"),
            inbound.AgentError("x"),
        ):
            self.refused("invalid_hello", Playbook(self, WITH_TOKEN), message)

    def test_early_heartbeat(self) -> None:
        """A heartbeat before ``hello`` changes nothing."""
        playbook = Playbook(self)
        peer = playbook.connect("c1")
        for message in (inbound.Ping(1), inbound.Pong(1)):
            peer.sends(message)
            playbook.expect()
        peer.sends(hello())
        playbook.expect(welcome(peer, "app"))

    def test_second_hello(self) -> None:
        """A second ``hello`` is refused, and the connection's affairs are wound up."""
        playbook = Playbook(self)
        agent, worker = playbook.agent(), playbook.worker()
        test = worker.test()
        route_id = test.route("**")
        agent.sends(start())
        playbook.take()
        worker.sends(hello())
        gone = [type(each).__name__ for each in playbook.take()]
        self.assertEqual(gone, ["Send", "CloseConnection", "RequestFailed", "Send", "Send"])
        agent.sends(hello())
        playbook.expect(*hello_error(agent, "invalid_hello"))
        self.assertEqual((playbook.tables(), route_id), ({}, "buys#1"))

    def test_features(self) -> None:
        """The answer names the features that both sides know, and none if none were offered."""
        for offered, answered in (
            (UNSET, UNSET),
            ([], []),
            (["warp"], []),
            (["warp", "strict", "headers-list", "strict"], ["headers-list", "strict"]),
        ):
            playbook = Playbook(self)
            peer = playbook.connect("c1")
            peer.sends(hello(features=offered))
            playbook.expect(welcome(peer, "app", features=answered))

    def test_process(self) -> None:
        """A client says which process it is; a long command line is cut, and is one line."""
        said: list[tuple[dict[str, object], tuple[int | None, str | None]]] = [
            ({}, (None, None)),
            ({"pid": 4711, "command": "node server.js"}, (4711, "node server.js")),
            ({"pid": 2**32 - 1, "command": "x" * 5000}, (2**32 - 1, "x" * 1000)),
            ({"command": "python -c a\n  b\x1b[2J"}, (None, "python -c a b\\x1b[2J")),
            ({"command": " \n"}, (None, None)),
        ]
        for message, kept in said:
            self.assertEqual(self.process_of(message), kept)

    @given(pid=JSON, command=JSON)
    def test_any_process(self, pid: object, command: object) -> None:
        """Whatever stands for the process lets the client in, and only what fits is kept."""
        kept_pid, kept_command = self.process_of({"pid": pid, "command": command})
        fits = type(pid) is int and 0 < pid < 2**32
        self.assertEqual(kept_pid, pid if fits else None)
        if kept_command is not None:
            self.assertTrue(kept_command.isprintable())
            self.assertLessEqual(len(kept_command), 1000)
        elif isinstance(command, str):
            self.assertFalse(command.strip())

    def process_of(self, message: dict[str, object]) -> tuple[int | None, str | None]:
        """Have a client say hello, and give what is kept of its process."""
        playbook = Playbook(self)
        peer = playbook.connect("c1")
        peer.sends_text(json.dumps(HELLO | message))
        playbook.expect(welcome(peer, "app"))
        (client,) = playbook.coordinator.clients()
        self.assertEqual(client.connected_at, playbook.now().epoch_ms)
        return client.pid, client.command

    def test_versions(self) -> None:
        """Another package version is let in and noted once; the npm packages' is no news."""
        playbook = Playbook(self)
        for number, version in enumerate(("0.1.0", "1.2.3", "9.9", "9.9", "8.8", "x" * 1000)):
            peer = playbook.connect(f"c{number}")
            peer.sends(hello(package_version=version))
            playbook.expect(welcome(peer, "app"))
        self.assertEqual(playbook.notes, [text("'9.9'"), text("'8.8'")])

    def test_many_versions(self) -> None:
        """Clients that make versions up fill neither the memory nor the log."""
        playbook = Playbook(self)
        for number in range(VERSIONS_NOTED + 50):
            peer = playbook.connect(f"c{number}")
            peer.sends(hello(package_version=f"9.{number}"))
            playbook.expect(welcome(peer, "app"))
        self.assertEqual(len(playbook.notes), VERSIONS_NOTED)
        self.assertEqual(len(playbook.coordinator.handshake._versions_seen), VERSIONS_NOTED)

    def test_the_texts_help(self) -> None:
        """A refusal says what was expected and what to do, but never the token."""
        playbook = Playbook(self, WITH_TOKEN)
        for message, reason in (
            (hello(protocol_version=2), text("protocol 2", "3")),
            (hello(), text("missing", "--token")),
            (hello(token="x"), text("wrong", "--token")),
        ):
            peer = playbook.connect("c1")
            peer.sends(message)
            send, _ = playbook.take()
            self.assertEqual(send, peer.gets(outbound.HelloError(ANY, reason)))
            self.assertNotIn("s3cret", str(send))
