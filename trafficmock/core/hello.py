"""Admits clients: the first message of a connection must be a valid ``hello``."""

from __future__ import annotations

import hmac

from attrs import define, field
from msgspec import UNSET

from trafficmock.core.answers.languages import language_of
from trafficmock.core.effects import CloseConnection, EffectList, Moment
from trafficmock.core.http.deferred_bodies import body_limits
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.peers import Agent, Client, Liveness, Unauthenticated, Worker
from trafficmock.texts.message_text import printable
from trafficmock.wire import NPM_PACKAGE_VERSION, PROTOCOL_VERSION, features
from trafficmock.wire.client_id import client_id_problem
from trafficmock.wire.inbound import Hello, Message, Ping, Pong
from trafficmock.wire.outbound import HelloError, HelloErrorCode, HelloOk

POLICY_VIOLATION = 1008
"""The WebSocket close code for a connection that is refused (RFC 6455 section 7.4.1)."""

LARGEST_PID = 2**32 - 1
"""The largest process id: process ids have 32 bits on every platform."""
VERSIONS_NOTED = 100
"""The most different versions of clients that are logged, each once."""
LONGEST_COMMAND = 1000
"""The most characters of a command line that are kept."""


@define
class Handshake:
    """Makes clients of unauthenticated connections, or refuses them."""

    state: SharedState
    _versions_seen: set[str] = field(factory=set)

    def first_message(
        self, connection: Unauthenticated, message: Message, out: EffectList
    ) -> Agent | Worker | Liveness | None:
        """Handle the first message of a connection.

        A ``ping`` or ``pong`` before ``hello`` is ignored.

        :returns: the client; ``None`` for a connection that stays unauthenticated or was refused,
            in which case ``out`` has its :class:`CloseConnection`.
        """
        if isinstance(message, Ping | Pong):
            return None
        if not isinstance(message, Hello):
            refuse(connection.id, "invalid_hello", "The first message must be `hello`.", out)
            return None
        refusal = self._refusal(message)
        if refusal is not None:
            refuse(connection.id, *refusal, out)
            return None
        self._note_version(message, out)
        client = self._client(connection, message, out.now)
        out.send(client.id, self._welcome(client, message))
        return client

    def _refusal(self, hello: Hello) -> tuple[HelloErrorCode, str] | None:
        if hello.protocol_version != PROTOCOL_VERSION:
            theirs = hello.protocol_version
            text = f"The client speaks protocol {theirs}, this proxy {PROTOCOL_VERSION}."
            return (
                "protocol_mismatch",
                f"{text} Use a client for protocol 3, such as the npm packages 0.1.8.",
            )
        expected = self.state.settings.token
        given = hello.token if hello.token is not UNSET else ""
        if expected is not None and not hmac.compare_digest(_bytes(given), _bytes(expected)):
            what = "wrong" if given else "missing"
            text = f"The token is {what}. Give the client the proxy's --token"
            return "unauthorized", f"{text}, for example in TRAFFICMOCK_TOKEN."
        problem = client_id_problem(hello.client_id or "")
        if problem is not None:
            return "invalid_hello", f"The client id {problem}."
        if _is_liveness(hello) and self._worker_of(hello) is None:
            text = "`livenessOf` is the connection id of no worker."
            return "invalid_hello", text
        return None

    def _worker_of(self, hello: Hello) -> Worker | None:
        """Return the worker for which a connection answers pings."""
        peer = self.state.peers.get(hello.liveness_of or "")
        return peer if isinstance(peer, Worker) else None

    def _note_version(self, hello: Hello, out: EffectList) -> None:
        version, seen = hello.package_version, self._versions_seen
        if version in (self.state.settings.version, NPM_PACKAGE_VERSION) or version in seen:
            return
        if len(seen) < VERSIONS_NOTED and len(version) < 80:  # noqa: PLR2004 - fits in a log line
            seen.add(version)
            text = f"A client has version {version!r}, this proxy {self.state.settings.version!r}."
            out.note("info", text)

    def _client(
        self, connection: Unauthenticated, hello: Hello, now: Moment
    ) -> Agent | Worker | Liveness:
        client_id = hello.client_id or f"{hello.role}-{connection.id}"
        known = features.ALL.intersection(hello.features or ())
        if not self.state.settings.decides_locally:
            known -= {features.LOCAL}
        if hello.role == "node":
            return Agent(
                id=connection.id,
                client_id=client_id,
                features=known,
                last_heard=now.seconds,
                kind=connection.kind,
                connected_at=now.epoch_ms,
                pid=_pid(hello.pid),
                command=_one_line(hello.command),
                process_mark=_one_line(hello.process_mark) or "",
            )
        worker = self._worker_of(hello)
        if worker is not None:
            worker.liveness_id = connection.id
            return Liveness(
                id=connection.id,
                client_id=client_id,
                features=known,
                last_heard=now.seconds,
                connected_at=now.epoch_ms,
                worker=worker,
            )
        return Worker(
            id=connection.id,
            client_id=client_id,
            features=known,
            last_heard=now.seconds,
            connected_at=now.epoch_ms,
            pid=_pid(hello.pid),
            command=_one_line(hello.command),
            worker_id=hello.worker_id if hello.worker_id is not UNSET else None,
            redact=tuple(hello.redact or ()),
            language=language_of(hello.language),
        )

    def _welcome(self, client: Client, hello: Hello) -> HelloOk:
        is_agent = isinstance(client, Agent)
        streams = features.STREAM in client.features and is_agent
        contexts = features.CONTEXT in client.features and is_agent
        origins = features.ORIGINS in client.features and is_agent
        return HelloOk(
            connection_id=client.id,
            protocol_version=PROTOCOL_VERSION,
            package_version=self.state.settings.version,
            client_id=client.client_id,
            features=sorted(client.features) if hello.features is not UNSET else UNSET,
            body_limits=body_limits(self.state.settings) if streams else UNSET,
            own_hosts=[host.text for host in self.state.settings.own_hosts] if contexts else UNSET,
            origins=bool(self.state.contexts.running) if origins else UNSET,
        )


def refuse(connection_id: str, code: HelloErrorCode, text: str, out: EffectList) -> None:
    """Send a connection ``hello:error``, and close it."""
    out.note("warn", f"refused, {code}: {text}", of=connection_id)
    out.send(connection_id, HelloError(code, text))
    out.append(CloseConnection(connection_id, POLICY_VIOLATION, code))


def _is_liveness(hello: Hello) -> bool:
    return hello.liveness_of is not UNSET and hello.role != "node"


def _pid(said: object) -> int | None:
    """Return a valid process id, and ``None`` for any other value."""
    if isinstance(said, int) and not isinstance(said, bool) and 0 < said <= LARGEST_PID:
        return said
    return None


def _one_line(said: object) -> str | None:
    """Return the beginning of a text as one line, ``None`` for a value that is no text.

    A command line is shown in terminals, and may have a whole program in it (``python -c``).
    """
    if not isinstance(said, str):
        return None
    return printable(" ".join(said[:LONGEST_COMMAND].split()))[:LONGEST_COMMAND] or None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
