"""The sequences of protocol 3, written so that something can go wrong after every step."""

from collections.abc import Sequence
from typing import Literal

from attrs import field, frozen
from msgspec import structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    abort,
    claims,
    claims_socket,
    continue_,
    failure,
    fall_back,
    fetch,
    fetched,
    fulfill,
    glob,
    observe,
    open_socket,
    predicate,
    redirect,
    report,
    response,
    start,
)
from tests.support.playbook import SETTINGS, Peer, Playbook, RegisteredTest
from trafficmock.wire import inbound
from trafficmock.wire.inbound import Message, RouteKind
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher

Who = Literal["agent", "worker", "rival"]
Line = tuple[Who, Message | str]

NEXT = "http://h.test/next"


@frozen
class Script:
    """One sequence.

    :param wanted: the matcher of the worker's route.
    :param features: of the worker.
    :param of_agent: the features of the agent.
    :param rival: the matcher of the other worker's route, which is there to compete.
    """

    name: str
    lines: Sequence[Line]
    wanted: SerializedMatcher = field(factory=lambda: glob("**"))
    rival: SerializedMatcher = field(factory=lambda: glob("http://other.test/"))
    kind: RouteKind = "http"
    features: Sequence[str] = ()
    of_agent: Sequence[str] = ()


@frozen
class RunningScript:
    """The cast of a script, in place."""

    playbook: Playbook
    agent: Peer
    worker: Peer
    rival: Peer
    test: RegisteredTest
    rival_test: RegisteredTest

    def sends(self, line: Line) -> None:
        who, message = line
        peer = {"agent": self.agent, "worker": self.worker, "rival": self.rival}[who]
        if isinstance(message, str):
            peer.sends_text(message)
        else:
            peer.sends(message)


def set_up(case: SynchronousTestCase, script: Script) -> RunningScript:
    """Bring in an agent, an owner to be, and a rival that also watches."""
    playbook = Playbook(case, SETTINGS)
    agent = playbook.agent(features=script.of_agent)
    worker, rival = playbook.worker("0", features=script.features), playbook.worker("1")
    test, rival_test = worker.test("buys"), rival.test("sells")
    test.route(script.wanted, kind=script.kind)
    rival_test.route(script.rival, kind=script.kind)
    return RunningScript(playbook, agent, worker, rival, test, rival_test)


def frame(text: str = "hi") -> tuple[str, str, bool]:
    return "s1", text, False


A: Who = "agent"
W: Who = "worker"
R: Who = "rival"
START: Line = (A, start())
CLAIMED: Line = (W, claims("r1", "buys", "buys#1"))
OPEN: Line = (A, open_socket())
SOCKET_CLAIMED: Line = (W, claims_socket("s1", "buys", "buys#1"))
PAGE, SERVER = inbound.ClosePage("s1", was_clean=True), inbound.CloseServer("s1", was_clean=True)
HOPS: Sequence[Line] = (
    (A, report("r1", redirect(NEXT))),
    (A, observe("r2", "r1", NEXT)),
    (A, report("r2", redirect(NEXT))),
    (A, observe("r3", "r2", NEXT)),
)
UPLOAD: Line = (A, structs.replace(start(), body_pending=True))
BODY: Line = (A, inbound.RequestBody("r1", body.from_bytes(b"hello")))
HEAD: Line = (A, structs.replace(report(), body_pending=True))
BAD_BODY: Line = (A, '{"type":"request:body","requestId":"r1"}')
BROKEN_OFF: Line = (
    A,
    inbound.RequestResponse("r1", ok=False, response=response(200, b"part"), error=failure()),
)
ELSEWHERE = glob("http://other.test/")
BAD_RESULT = '{"type":"handler:result","requestId":"r1","result":{"action":"fulfill"}}'

REQUESTS = (
    Script("passthrough", [START, (A, report())], glob("http://other.test/")),
    Script("passthrough that fails", [START, (A, report("r1", failure()))], predicate("x:")),
    Script("declined claim", [START, (W, claims("r1", "buys")), (A, report())], predicate()),
    Script("fulfil", [START, (W, fulfill())]),
    Script("fulfil after a claim", [START, CLAIMED, (W, fulfill())], predicate()),
    Script("expiring route", [START, (W, inbound.RouteUnregister("buys#1")), (W, fulfill())]),
    Script("continue", [START, (W, continue_()), (A, report())]),
    Script(
        "continue after a claim", [START, CLAIMED, (W, continue_()), (A, report())], predicate()
    ),
    Script("redirects", [START, *HOPS, (A, report("r3"))], glob("http://other.test/")),
    Script("continued redirects", [START, (W, continue_()), *HOPS, (A, report("r3"))]),
    Script("failing hop", [START, (W, continue_()), *HOPS, (A, report("r1", failure()))]),
    Script("abort", [START, (W, abort("r1", "timedout"))]),
    Script("handler throws", [START, CLAIMED, (W, abort("r1", "failed", "boom"))], predicate()),
    Script(
        "fetches",
        [
            START,
            (W, fetch("r1", "f1")),
            (W, fetch("r1", "f2")),
            (A, fetched("r1", "f2")),
            (A, fetched("r1", "f1", failure())),
            (W, fulfill()),
        ],
    ),
    Script("decided before the fetch", [START, (W, fetch()), (W, fulfill()), (A, fetched())]),
    Script("cancel", [START, (A, inbound.RequestCancel("r1"))]),
    Script("cancelled claim", [START, (A, inbound.RequestCancel("r1")), CLAIMED], predicate()),
    Script(
        "cancelled fetch", [START, (W, fetch()), (A, inbound.RequestCancel("r1")), (A, fetched())]
    ),
    Script("cancelled continue", [START, (W, continue_()), (A, inbound.RequestCancel("r1"))]),
    Script("invalid result", [START, (W, BAD_RESULT)]),
    Script("fallback", [START, (W, fall_back()), (A, report())], features=("chain",)),
    Script(
        "guarded",
        [
            START,
            (A, start("r2")),
            (W, fetch()),
            (W, claims("r2", "buys", "buys#1")),
            (A, fetched()),
            (W, fulfill("r1")),
            (W, fulfill("r2")),
        ],
    ),
    Script("certainly ambiguous", [START], glob("**"), glob("**")),
    Script(
        "ambiguous",
        [START, CLAIMED, (R, claims("r1", "sells", "sells#1"))],
        predicate(),
        predicate(),
    ),
    Script(
        "certain and asked",
        [START, (R, claims("r1", "sells")), (W, fulfill())],
        glob("**"),
        predicate(),
    ),
)

STREAMED = tuple(
    Script(name, lines, wanted, of_agent=("stream",), features=features)
    for name, lines, wanted, features in (
        ("streamed passthrough", [UPLOAD, BODY, HEAD, (A, report())], ELSEWHERE, ()),
        ("answered before the copy", [UPLOAD, HEAD, BODY, (A, report())], ELSEWHERE, ()),
        ("without a copy", [UPLOAD, (A, report()), BODY], ELSEWHERE, ()),
        ("unreadable copy", [UPLOAD, BAD_BODY, (A, report())], ELSEWHERE, ()),
        ("response that breaks off", [UPLOAD, BODY, HEAD, BROKEN_OFF], ELSEWHERE, ()),
        ("streamed redirects", [UPLOAD, BODY, *HOPS, (A, report("r3"))], ELSEWHERE, ()),
        ("redirects without a copy", [UPLOAD, *HOPS, (A, report("r3"))], ELSEWHERE, ()),
        ("cancelled copy", [UPLOAD, (A, inbound.RequestCancel("r1")), BODY], ELSEWHERE, ()),
        ("owned upload", [UPLOAD, BODY, (W, fulfill())], glob("**"), ()),
        ("unreadable upload", [UPLOAD, BAD_BODY, (W, fulfill())], glob("**"), ()),
        ("upload after a claim", [UPLOAD, CLAIMED, BODY, (W, fulfill())], predicate(), ()),
        ("upload that nobody claims", [UPLOAD, (W, claims("r1", "buys")), BODY], predicate(), ()),
        (
            "continued upload",
            [UPLOAD, BODY, (W, continue_()), HEAD, (A, report())],
            glob("**"),
            (),
        ),
        ("cancelled upload", [UPLOAD, (A, inbound.RequestCancel("r1")), BODY], glob("**"), ()),
        (
            "upload whose route goes",
            [UPLOAD, (W, inbound.RouteUnregister("buys#1")), BODY, (A, report())],
            glob("**"),
            (),
        ),
        (
            "upload that falls back",
            [UPLOAD, BODY, (W, fall_back()), (A, report())],
            glob("**"),
            ("chain",),
        ),
    )
)

SOCKETS = tuple(
    Script(name, lines, predicate(), rival, "websocket")
    for name, lines, rival in (
        ("declined socket", [OPEN, (W, claims_socket("s1", "buys"))], glob("ws://other.test/")),
        (
            "mocked socket",
            [
                OPEN,
                SOCKET_CLAIMED,
                (W, inbound.SendToPage(*frame())),
                (W, inbound.SocketEnsureOpened("s1")),
                (A, inbound.MessageFromPage(*frame())),
                (W, PAGE),
                (A, PAGE),
            ],
            glob("ws://other.test/"),
        ),
        (
            "connected socket",
            [
                OPEN,
                SOCKET_CLAIMED,
                (W, inbound.SocketConnect("s1")),
                (A, inbound.MessageFromServer(*frame())),
                (W, inbound.SendToPage(*frame())),
                (W, inbound.SendToServer(*frame())),
                (A, PAGE),
                (W, SERVER),
                (A, SERVER),
                (W, PAGE),
            ],
            glob("ws://other.test/"),
        ),
        (
            "socket whose server closes",
            [
                OPEN,
                SOCKET_CLAIMED,
                (W, inbound.SocketConnect("s1")),
                (A, SERVER),
                (W, PAGE),
                (A, PAGE),
            ],
            glob("ws://other.test/"),
        ),
        ("socket closed while held", [OPEN, (A, PAGE), SOCKET_CLAIMED], glob("ws://other.test/")),
        (
            "ambiguous socket",
            [OPEN, SOCKET_CLAIMED, (R, claims_socket("s1", "sells", "sells#1"))],
            predicate(),
        ),
    )
)
