"""A session without a proxy: what it sends is read, what it hears is said by the test."""

import itertools
import json
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, Literal, TypeVar, cast

import msgspec
from msgspec import UNSET, Raw, UnsetType, structs
from twisted.internet.task import Clock

from tests.support.playbook import performed
from trafficmock.core.coordinator import Coordinator
from trafficmock.core.effects import ConnectedClient, Diagnose, Effects, Moment, Overdue, Send
from trafficmock.core.settings import Settings
from trafficmock.history.rest_records import RequestRecord
from trafficmock.server.diagnosis.similar_request_search import overdue_steps
from trafficmock.server.diagnosis.traffic_of_test import diagnosis_steps
from trafficmock.testing.promise import Promise
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.testing.session.observation.waiting import Waiter
from trafficmock.testing.session.ports import Adapter, Cancel
from trafficmock.testing.session.session import Session, TestInfo
from trafficmock.testing.session.worker_client import WorkerClient, WorkerIdentity, WorkerMessage
from trafficmock.wire import inbound, outbound
from trafficmock.wire.codec import decode, encode
from trafficmock.wire.features import OF_WORKERS
from trafficmock.wire.inbound import Message
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Written
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse
from trafficmock.wire.payloads.unmet_routes import UnmetMatcher
from trafficmock.wire.waits.wait_messages import WaitMet, WaitRegister

M = TypeVar("M", bound=Message)
T = TypeVar("T")

URL = "http://h.test/a"
BEGAN_MS = 1000
"""When tests and waits begin, by the proxy's clock."""
BUYS = TestInfo(title="buys", file="f.py")


class FakeLink:
    """Keeps what is sent; time stands still until the test moves it."""

    proxy_url = "http://proxy.test:4310"

    def __init__(self) -> None:
        self.clock = Clock()
        self.sent: list[Message] = []
        self._ids = itertools.count(1)

    def send(self, message: Message) -> None:
        self.sent.append(message)

    def call_later(self, seconds: float, function: Callable[[], object]) -> Cancel:
        timer = self.clock.callLater(seconds, function)
        return lambda: timer.cancel() if timer.active() else None

    def new_id(self) -> str:
        return f"id{next(self._ids)}"

    def new_context(self) -> str:
        return f"{next(self._ids):032x}"

    def epoch_ms(self) -> int:
        return round(self.clock.seconds() * 1000)

    def monotonic_us(self) -> int:
        return round(self.clock.seconds() * 1_000_000)


class ManualAdapter(Adapter):
    """Calls handlers with the routed request itself and ``done``: each test plays them by hand."""

    def run_handler(self, handler: Any, routed: Any, done: Any) -> None:
        handler(routed, done)

    def run_socket_handler(self, handler: Any, socket: Any, done: Any) -> None:
        handler(socket, done)

    def run_predicate(self, predicate: Any, found: Any, done: Any) -> None:
        self.run_function(predicate, (found,), done)

    def run_function(self, function: Any, args: tuple[Any, ...], done: Any) -> None:
        try:
            result = function(*args)
        except BaseException as error:  # noqa: BLE001 - as adapters do
            done(None, error)
        else:
            done(result, None)


class SessionHarness:
    """A session that is registered with a proxy that acknowledges whatever is asked.

    :param acknowledges: whether it does.
    :param info: how the session is set up.
    """

    def __init__(
        self,
        *,
        acknowledges: bool = True,
        info: TestInfo = BUYS,
    ) -> None:
        self.link = FakeLink()
        self.context: Literal["own"] | UnsetType = UNSET
        self._acked: list[Message] = []
        self.acknowledges = True
        self.entries: list[Raw] = []
        self.found: outbound.HistoryResult | None = None
        self.agents: list[ConnectedClient] = []
        self.client = WorkerClient(self.link, WorkerIdentity(version="1.2.3"))
        self.client.opened()
        self.receive(outbound.HelloOk("c1", 3, "1.2.3", "python-0", list(OF_WORKERS)))
        self.session = self.begin("t1", info)
        self.acknowledges = acknowledges
        self.take()

    def begin(self, test_id: str, info: TestInfo) -> Session:
        """Register a test."""
        session = Session(test_id, info, self.client, ManualAdapter())
        session.start()
        self.registered = next(
            each for each in reversed(self.link.sent) if isinstance(each, inbound.TestRegister)
        )
        self.acknowledge()
        return session

    def receive(self, message: WorkerMessage) -> None:
        self.client.receive(message)
        self.acknowledge()

    def acknowledge(self) -> None:
        """Acknowledge what was asked since the last time."""
        if not self.acknowledges:
            return
        for message in list(self.link.sent):
            answer = self.answer(message)
            if answer is not None and message not in self._acked:
                self._acked.append(message)
                self.client.receive(performed(answer))

    def answer(self, message: Message) -> WorkerMessage | None:
        """Answer from what the test says that the proxy knows; acknowledge the rest."""
        match message:
            case inbound.HistoryQuery(only_ids=True) if self.found is not None:
                return structs.replace(self.found, query_id=message.query_id)
            case inbound.HistoryQuery():
                return outbound.HistoryResult(message.query_id, self.entries, "all")
            case inbound.DiagnosisQuery():
                return self.diagnosis(message)
        return acknowledgement(message)

    def diagnosis(self, query: inbound.DiagnosisQuery) -> outbound.DiagnosisResult:
        """Compare the entries as the service does."""
        has_context = self.session.context.id is not None
        own = self._own(query.test_id) if has_context else frozenset[str]()
        effect = Diagnose("c1", query, self.agents, own)
        *_, answer = diagnosis_steps(self.history(), effect)
        assert answer is not None
        return answer

    def _own(self, test_id: str | UnsetType) -> frozenset[str]:
        """Return a test and the shared tests of the worker."""
        shared = [key for key, each in self.client.sessions.items() if each.info.shared]
        return frozenset([*shared, test_id]) if test_id else frozenset()

    def history(self) -> Any:
        """Return a history of the entries."""
        entries = [_entry(_record(raw)) for raw in self.entries]
        rows = SimpleNamespace(query=lambda _: entries)
        return SimpleNamespace(requests=rows, capture="all")

    def take(self) -> list[Message]:
        """Read what was sent since the last time."""
        self.acknowledge()
        sent, self.link.sent[:] = list(self.link.sent), []
        return sent

    def results(self) -> list[Any]:
        """Read the decisions that were sent since the last time."""
        return [
            (each.request_id, _name(each.result))
            for each in self.take()
            if isinstance(each, inbound.HandlerResult)
        ]

    def route(self, handler: Any, url: Any = "**", times: float | None = None) -> Any:
        self.session.http.route(make_matcher(url), handler, times)
        entry = next(iter(self.session.http.live))
        self.acknowledge()
        return entry

    def matched(
        self, request_id: str = "r1", url: str = URL, *, route: Any = None, **more: Any
    ) -> None:
        """Have a handler run on a request: the newest that matches its URL, or that of a route."""
        entry = route or next(
            each for each in self.session.http.live if each.matcher.matches_url(url)
        )
        run_id = f"{request_id} in {entry.id}"
        message = outbound.HandlerRun(
            request_id, request(url, **more), "app", run_id, entry.id, "t1"
        )
        self.receive(structs.replace(message, context=self.context))

    def observed(self, request_id: str = "r1", url: str = URL) -> None:
        self.receive(outbound.RequestObserved(request_id, request(url), "app"))

    def registered_wait(self, waiter: Waiter) -> WaitRegister:
        """Return the message that registered a wait."""
        (found,) = [
            each
            for each in self.link.sent
            if isinstance(each, WaitRegister) and each.wait_id == waiter.id
        ]
        return found

    def meets(self, waiter: Waiter, request_id: str = "r1") -> None:
        self.receive(WaitMet(waiter.id, request_id))

    def overdue(self, waiter: Waiter) -> None:
        """End a wait with what came instead, compared as the service does."""
        wanted = self.registered_wait(waiter)
        unmet = UnmetMatcher(wanted.matcher, BEGAN_MS)
        effect = Overdue(
            "c1", waiter.id, waiter.kind, unmet, 0, self.agents, self._own(wanted.test_id)
        )
        *_, answer = overdue_steps(self.history(), effect)
        assert answer is not None
        self.receive(answer)

    def responded(self, request_id: str = "r1", answer: SerializedResponse | None = None) -> None:
        self.receive(inbound.RequestResponse(request_id, ok=True, response=answer or response()))


class CoordinatedSession:
    """A session with a coordinator in memory, and one application."""

    def __init__(self) -> None:
        self.coordinator = Coordinator(Settings(version="1.2.3"))
        self.link = FakeLink()
        self.client = WorkerClient(self.link, WorkerIdentity(version="1.2.3"))
        self._decided: list[str] = []
        for connection, hello in (
            ("worker", self.client.identity.hello()),
            ("agent", inbound.Hello(3, "1.2.3", "node", "app")),
        ):
            self._deliver(self.coordinator.connect(connection, self._now()))
            self._handle(connection, hello)
        self.link.send = partial(self._handle, "worker")  # type: ignore[method-assign] # a fake
        self.session = Session("t1", BUYS, self.client, ManualAdapter())
        self.session.start()

    def asks(self, request_id: str, url: str) -> None:
        """Let the application send a request."""
        self._handle("agent", inbound.RequestStart(request_id, "app", request(url)))

    def route(self, handler: Any, url: Any, times: float | None = None) -> None:
        self.session.http.route(make_matcher(url), handler, times)

    def take_decided(self) -> list[str]:
        """Read the ids of the requests that were decided since the last time."""
        decided, self._decided = self._decided, []
        return decided

    def _handle(self, connection: str, message: Any) -> None:
        received = decode(encode(message))
        self._deliver(self.coordinator.handle(connection, received, self._now()))

    def _deliver(self, effects: Effects) -> None:
        for effect in effects:
            if not isinstance(effect, Send):
                continue
            if "worker" in effect.to:
                self.client.receive(effect.message)  # type: ignore[arg-type] # sent to workers
            elif isinstance(effect.message, DECISIONS):
                self._decided.append(effect.message.request_id)

    def _now(self) -> Moment:
        return Moment(1000.0, 1_700_000_000_000)


def _name(result: Any) -> str:
    return result.call.capitalize() if isinstance(result, Written) else type(result).__name__


DECISIONS = (
    outbound.DecisionPassthrough,
    outbound.DecisionFulfill,
    outbound.DecisionContinue,
    outbound.DecisionAbort,
    outbound.DecisionError,
)


def _entry(record: RequestRecord) -> SimpleNamespace:
    return SimpleNamespace(record=record, request=record.request, request_body=None, elsewhere=None)


def _record(raw: Raw) -> RequestRecord:
    given = json.loads(bytes(raw))
    events = [{"id": "", "timestamp": 0} | each for each in given.get("events", ())]
    defaults = {"timestamp": 0, "action": given["outcome"]["kind"]}
    record = json.dumps(defaults | given | {"events": events})
    return msgspec.json.decode(record, type=RequestRecord)


def acknowledgement(message: Message) -> WorkerMessage | None:  # noqa: PLR0911 - one flat match
    match message:
        case inbound.TestRegister():
            port = UNSET if message.browser_proxy is UNSET else 5000
            return outbound.TestRegistered(message.test_id, 1000, port, clock=0)
        case inbound.TestUnregister():
            return outbound.TestUnregistered(message.test_id)
        case inbound.TestSubscribe():
            return outbound.TestSubscribed(message.test_id)
        case inbound.TestStrict():
            return outbound.TestStricted(message.test_id)
        case inbound.RouteRegister():
            status = message.options and message.options.get("status", 200)
            given = [response(status)] if status else UNSET
            return outbound.RouteRegistered(message.route_id, cast("Any", given))
        case inbound.HandlerResult(result=Written(options=options)):
            head = response(options.get("status", 200))
            return outbound.HandlerRead(message.request_id, message.run_id or "", response=head)
        case inbound.RouteUnregister():
            return outbound.RouteUnregistered(message.route_id, message.test_id)
        case inbound.Ping():
            return inbound.Pong(message.at)
    return None


def request(
    url: str = URL, method: str = "GET", content: bytes = b"", **headers: str
) -> SerializedRequest:
    return SerializedRequest(url, method, headers, body.from_bytes(content))


def response(status: int = 200, content: bytes = b"", **headers: str) -> SerializedResponse:
    return SerializedResponse(status, "", headers, body.from_bytes(content))


def kept(promise: Promise[T]) -> T:
    """Give a promise's value; fail when it is still open."""
    assert promise.done, "not settled"
    return promise.value


def failure(promise: Promise[Any]) -> BaseException:
    """Give a promise's error; fail when there is none."""
    assert promise.done, "not settled"
    assert promise.error is not None, promise
    return promise.error


_REQUEST: dict[str, Any] = {"method": "GET", "headers": {}, "bodyBase64": None}


def entry(number: int, path: str, kind: str, /, **more: Any) -> Raw:
    """Make an entry of the history."""
    outcome = {"kind": kind, **more.pop("outcome", {})}
    record = {
        "id": f"r{number}",
        "clientId": "shop",
        "request": {**_REQUEST, "url": f"http://h.test/{path}"},
        "outcome": outcome,
        **more,
    }
    return Raw(json.dumps(record).encode())
