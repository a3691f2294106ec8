"""Events in, effects expected: the core's tests read like a transcript.

    play = Playbook(self)
    agent, worker = play.agent("shop"), play.worker("0")
    test = worker.test("buys")
    test.route("http://h.test/**")
    agent.sends(start("r1"))
    play.expect(...)

Effects that no ``expect`` has looked at are an error at the next event and at the end
of the test. :mod:`tests.support.invariants` also checks whatever a playbook does.
"""

import difflib
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, TypeVar, cast

from msgspec import UNSET, Struct, UnsetType, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    ANY,
    glob,
    options,
)
from tests.support.invariants.coordinator_invariants import Invariants
from tests.support.tables import tables
from trafficmock.core.coordinator import Coordinator
from trafficmock.core.effects import CloseConnection, Dated, Effects, Moment, Note, Send, Wake
from trafficmock.core.http.deferred_bodies import body_limits
from trafficmock.core.settings import Settings
from trafficmock.records import Owner, TestBegan, TestEnded
from trafficmock.redaction.redactor import Redactor
from trafficmock.texts.wording import Wording
from trafficmock.wire import inbound, outbound
from trafficmock.wire.agent_filter import FilterSet
from trafficmock.wire.codec import InvalidMessageError, decode, to_plain
from trafficmock.wire.features import CONTEXT, ORIGINS, STREAM, SUBSCRIBE
from trafficmock.wire.limits import MAX_MESSAGE_BYTES
from trafficmock.wire.payloads.answer import Answer, Fulfill
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher, ShownRoute
from trafficmock.wire.payloads.serialized_response import SerializedResponse
from trafficmock.wire.shrink import shrink, too_large

SETTINGS = Settings(version="1.2.3")
EPOCH_MS = 1_700_000_000_000
REDACTOR = Redactor(key=b"playbook")
MOST_WAKES = 100_000
"""The number of wake-ups of one wait above which the core will never rest."""


class Playbook:
    """A coordinator of its own, with a clock that only the test moves.

    :ivar notes: texts for the log so far; they need no ``expect``.
    :ivar watchers: called with what each event led to, its sender, its message, and the time.
    :ivar muted: connections that do not answer pings during :meth:`wait`.
    """

    def __init__(
        self, case: SynchronousTestCase, settings: Settings = SETTINGS, *, lost_at_once: int = 100
    ) -> None:
        self.case = case
        self.coordinator = Coordinator(settings, lost_at_once=lost_at_once)
        self.invariants = Invariants()
        self.watchers: list[Callable[[Effects, str | None, object, float], None]] = []
        self._leaving: list[str] = []
        self.seconds = 1000.0
        self.notes: list[str] = []
        self.tests: list[TestBegan | TestEnded] = []
        self.muted: set[str] = set()
        self._unread: Effects = []
        self._routes: dict[str, ShownRoute] = {}
        self._wake_at: float | None = None
        case.addCleanup(self._assert_all_read)

    # The cast

    def connect(self, connection_id: str) -> "Peer":
        """Open a connection that says nothing yet."""
        self._assert_all_read()
        self._took(self.coordinator.connect(connection_id, self.now()), connection_id, None)
        return Peer(self, connection_id)

    def agent(self, client_id: str = "app", *, features: Sequence[str] = (), **said: Any) -> "Peer":
        """Bring in an agent that has said hello.

        :param said: about its process, in that message.
        """
        peer = Peer(self, f"agent {client_id}")
        return self._introduce(peer, "node", client_id, features, **said)

    def worker(self, worker_id: str = "0", *, features: Sequence[str] = ()) -> "WorkerPeer":
        """Bring in a worker that has said hello."""
        peer = WorkerPeer(self, f"worker {worker_id}")
        return self._introduce(peer, "playwright", f"playwright-{worker_id}", features)

    def _introduce(
        self, peer: "P", role: Any, name: str, features: Sequence[str], **said: Any
    ) -> "P":
        self.connect(peer.id)
        token = self.coordinator.settings.token or UNSET
        wanted = list(features) if features else UNSET
        peer.sends(inbound.Hello(3, "0.1.0", role, name, token=token, features=wanted, **said))
        streams = role == "node" and STREAM in features
        limits = body_limits(self.coordinator.settings) if streams else UNSET
        hosts = [host.text for host in self.coordinator.settings.own_hosts]
        own_hosts = hosts if role == "node" and CONTEXT in features else UNSET
        asked = bool(self.coordinator.state.contexts.running)
        origins = asked if role == "node" and ORIGINS in features else UNSET
        welcome = outbound.HelloOk(
            peer.id, 3, "1.2.3", name, wanted, limits, own_hosts, origins=origins
        )
        self.expect(peer.gets(welcome), *self._filter_of(peer))
        peer.features = tuple(features)
        return peer

    def _filter_of(self, peer: "Peer") -> list[object]:
        """Write what an agent is told that may decide by itself."""
        local = self.coordinator.local
        if peer.id not in local.agents:
            return []
        entries = list(local.entries.sent)
        return [peer.gets(FilterSet(local.n, entries, local.reports, MAX_MESSAGE_BYTES))]

    # Time

    def now(self) -> Moment:
        """Give the time that the playbook has reached."""
        return Moment(self.seconds, EPOCH_MS + round((self.seconds - 1000) * 1000))

    def wait(self, seconds: float) -> None:
        """Let time pass, waking the core when it asked for it; pings are answered at once."""
        self._assert_all_read()
        end = self.seconds + seconds
        read: Effects = []
        wakes = count()
        while self._wake_at is not None and self._wake_at <= end:
            assert next(wakes) < MOST_WAKES, f"the core wakes without end at {self._wake_at}"
            self.tick_at(self._wake_at)
            read += self._unread
            self._unread = []
            self._answer_pings(read)
        self.seconds = end
        self._unread = read

    def tick_at(self, seconds: float) -> None:
        """Wake the core at this moment."""
        self.seconds = max(self.seconds, seconds)
        self._wake_at = None
        self._took(self.coordinator.tick(self.now()), None, None)

    def wake(self) -> None:
        """Wake the core now, as it must have asked for."""
        assert self._wake_at is not None and self._wake_at <= self.seconds, self._wake_at
        self.tick_at(self.seconds)

    def _answer_pings(self, effects: Effects) -> None:
        pings = [e for e in effects if isinstance(e, Send) and isinstance(e.message, inbound.Ping)]
        effects[:] = [effect for effect in effects if effect not in pings]
        for ping in pings:
            for connection_id in ping.to:
                if connection_id not in self.muted:
                    self.deliver(connection_id, inbound.Pong(0))
                    effects += self._unread
                    self._unread = []

    # Events

    def await_older_leases(self) -> None:
        """Say that another process may have served this address until now."""
        self._took(self.coordinator.await_older_leases(self.now()), None, None)

    def deliver(self, connection_id: str, message: inbound.Message) -> None:
        """Let a connection say something."""
        self._assert_all_read()
        if isinstance(message, inbound.RouteRegister):
            self._routes.setdefault(message.route_id, ShownRoute(message.matcher, message.place))
        effects = self.coordinator.handle(connection_id, message, self.now())
        self._took(effects, connection_id, message)

    def deliver_text(self, connection_id: str, payload: bytes) -> None:
        """Let a connection say something in bytes, valid or not."""
        try:
            message = decode(payload)
        except InvalidMessageError as error:
            self._assert_all_read()
            effects = self.coordinator.handle_invalid(connection_id, error, self.now())
            self._took(effects, connection_id, error)
        else:
            self.deliver(connection_id, message)

    def disconnect(self, connection_id: str, *, clean: bool = False) -> None:
        """End a connection."""
        self._assert_all_read()
        self.invariants.leaving(connection_id)
        self._leaving.append(connection_id)
        effects = self.coordinator.disconnect(connection_id, self.now(), clean=clean)
        self._took(effects, None, None)

    def stop(self) -> None:
        """End the service."""
        self._assert_all_read()
        self._took(self.coordinator.stop(self.now()), None, None)

    def too_big(self, send: Send, size: int, limit: int) -> None:
        """Find that a message comes out too large."""
        self._assert_all_read()
        self._took(self.in_place_of(send, size, limit), None, None)

    def in_place_of(self, send: Send, size: int, limit: int) -> Effects:
        """Give what is done in the place of a message that comes out too large."""
        problem = too_large(size, limit)
        smaller = shrink(send.message, problem)
        if smaller is not None:
            return [Send(send.to, smaller)]
        return self.coordinator.undelivered(send.message, problem, self.now())

    def _took(self, effects: Effects, sender: str | None, cause: object) -> None:
        effects = [performed(effect) for effect in effects]
        for effect in effects:
            if isinstance(effect, Wake):
                assert self._wake_at is None or effect.at <= self._wake_at, "a wake-up was put off"
                self._wake_at = effect.at
            elif isinstance(effect, TestBegan | TestEnded):
                self.tests.append(effect)
            elif isinstance(effect, Note):
                self.notes.append(effect.text)
            else:
                self._unread.append(effect)
        self.invariants.took(effects, sender, cause)
        if isinstance(cause, inbound.Hello):
            self._leaving += [
                each.connection_id for each in effects if isinstance(each, CloseConnection)
            ]
        for watch in self.watchers:
            watch(effects, sender, cause, self.seconds)
        if not (self.coordinator.state.lost_agents or self.coordinator.ended_tests.waiting):
            while self._leaving:
                self.invariants.left(self._leaving.pop())

    # Expectations

    def expect(self, *expected: object) -> None:
        """Say what the last event must have led to, in order.

        An owner without a route stands for one with the route of its id, as it was registered.
        """
        took, self._unread = self._unread, []
        expected = tuple(self.with_route(effect) for effect in expected)
        if list(expected) != list(took):
            lines = difflib.unified_diff(
                [line for effect in expected for line in _lines(effect)],
                [line for effect in took for line in _lines(effect)],
                "expected",
                "happened",
                n=99,
                lineterm="",
            )
            self.case.fail("\n" + "\n".join(lines))

    def with_route(self, effect: Any) -> Any:
        """Give the owner of a record the route of its id, as it was registered."""
        owner = getattr(effect, "owner", None)
        if not isinstance(owner, Owner) or owner.route is not None:
            return effect
        return structs.replace(
            effect, owner=structs.replace(owner, route=self._routes.get(owner.route_id))
        )

    def take(self) -> Effects:
        """Look at what the last event led to in some other way than by :meth:`expect`."""
        took, self._unread = self._unread, []
        return took

    def tables(self) -> dict[str, list[str]]:
        """List everything that the core holds now."""
        return tables(self.coordinator)

    def _assert_all_read(self) -> None:
        if self._unread:
            unread, self._unread = self._unread, []
            lines = "\n".join(line for effect in unread for line in _lines(effect))
            raise AssertionError(f"Nothing expected this:\n{lines}")


class Peer:
    """A connection of the playbook."""

    def __init__(self, playbook: Playbook, connection_id: str) -> None:
        self.playbook = playbook
        self.id = connection_id
        self.features: Sequence[str] = ()

    def sends(self, message: inbound.Message) -> None:
        """Send a message."""
        self.playbook.deliver(self.id, message)

    def sends_text(self, payload: str) -> None:
        """Send text that may be no valid message."""
        self.playbook.deliver_text(self.id, payload.encode())

    def dies(self) -> None:
        """Lose the connection."""
        self.playbook.disconnect(self.id)

    def closes(self) -> None:
        """Close the connection with a close frame."""
        self.playbook.disconnect(self.id, clean=True)

    def gets(self, message: inbound.Message) -> Send:
        """Write the effect that this connection, and no other, is sent a message."""
        return Send((self.id,), message)


class WorkerPeer(Peer):
    """A test worker of the playbook."""

    def test(
        self, title: str = "buys", context: str | None = None, *, shared: bool = False
    ) -> "RegisteredTest":
        """Register a test; its id is its title."""
        test = RegisteredTest(self, title)
        scope: Any = "worker" if shared else UNSET
        file, worker_id = f"{title}.spec.ts", self.id[-1]
        self.sends(inbound.TestRegister(title, title, file, worker_id, context or UNSET, scope))
        is_told = not {CONTEXT, SUBSCRIBE}.isdisjoint(self.features)
        at = self.playbook.now().epoch_ms if is_told else UNSET
        self.playbook.expect(self.gets(outbound.TestRegistered(title, at)))
        return test


class RegisteredTest:
    """A registered test of the playbook."""

    def __init__(self, worker: WorkerPeer, title: str) -> None:
        self.worker = worker
        self.id = title
        self.count = 0

    def route(
        self,
        wanted: str | SerializedMatcher = "**",
        *,
        kind: inbound.RouteKind = "http",
        reply: SerializedResponse | UnsetType = UNSET,
        times: int | UnsetType = UNSET,
        delay_ms: int | UnsetType = UNSET,
        answers: Sequence[Answer] | UnsetType = UNSET,
    ) -> str:
        """Register a route and give its id.

        :param reply: the response of a single answer, with ``delay_ms``.
        """
        if reply is not UNSET:
            answers = [Fulfill(reply, delay_ms=delay_ms)]
        self.count += 1
        route_id = f"{self.id}#{self.count}"
        matcher = glob(wanted) if isinstance(wanted, str) else wanted
        message = inbound.RouteRegister(
            route_id,
            self.id,
            matcher,
            kind,
            options=UNSET if answers is UNSET else options(*cast("Any", answers)),
            times=times,
        )
        self.worker.sends(message)
        *_, told = self.worker.playbook.take()
        assert isinstance(told, Send)
        responses = getattr(told.message, "responses", UNSET)
        expected = self.worker.gets(outbound.RouteRegistered(route_id, responses))
        self.worker.playbook.case.assertEqual(told, expected)
        return route_id

    def ends(self) -> None:
        """Unregister the test."""
        self.worker.sends(inbound.TestUnregister(self.id))

    def ended(self) -> Send:
        """Write the acknowledgement of :meth:`ends`."""
        return self.worker.gets(outbound.TestUnregistered(self.id))


P = TypeVar("P", bound=Peer)


def performed(value: Any) -> Any:
    """Give an effect with its texts as a driver writes them."""
    if isinstance(value, Wording):
        return REDACTOR.written(value)
    if isinstance(value, list | tuple) and value:
        return type(value)(map(performed, value))
    if not isinstance(value, Struct):
        return value
    changed = {
        name: new
        for name in value.__struct_fields__
        if (new := performed(old := getattr(value, name))) is not old
    }
    return structs.replace(value, **changed) if changed else value


def to(*peers: Peer) -> tuple[str, ...]:
    """Name several connections, as in ``Send(to(one, other), message)``."""
    return tuple(peer.id for peer in peers)


def hello_error(peer: Peer, code: outbound.HelloErrorCode) -> list[object]:
    """Write the two effects of a refusal."""
    return [peer.gets(outbound.HelloError(code, ANY)), CloseConnection(peer.id, 1008, ANY)]


def _lines(effect: object) -> list[str]:
    if isinstance(effect, Dated):
        return [f"{type(effect.record).__name__} at {effect.at}", f"    {_plain(effect.record)}"]
    if not isinstance(effect, Send):
        return [repr(effect)]
    name = type(effect.message).__name__
    return [f"to {', '.join(effect.to)}: {name}", f"    {_plain(effect.message)}"]


def _plain(value: Struct) -> object:
    """Return the fields, which the ``repr`` does not show."""
    try:
        return to_plain(value)
    except TypeError:
        return structs.asdict(value)
