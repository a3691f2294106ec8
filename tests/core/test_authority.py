"""Who may say what: every message of every wrong party changes nothing for anybody."""

from collections.abc import Callable, Iterator

from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    claims,
    claims_socket,
    fetched,
    fulfill,
    glob,
    observe,
    open_socket,
    predicate,
    report,
    start,
)
from tests.support.playbook import Peer, Playbook
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound
from trafficmock.wire.client_message import GlobQuery, RedactQuery
from trafficmock.wire.inbound import Message
from trafficmock.wire.payloads.answer import Abort, Continue, Fallback, Fetch
from trafficmock.wire.waits import wait_messages

FRAME = ("s1", "x", False)
CLOSE = ("s1", True)

OF_AGENTS: tuple[Message, ...] = (
    start("r9"),
    inbound.RequestCancel("r1"),
    fetched("r1", "f1"),
    report("r1"),
    observe("r9", "r3"),
    inbound.AgentError("x"),
    open_socket("s9"),
    inbound.MessageFromPage(*FRAME),
    inbound.MessageFromServer(*FRAME),
)
OF_WORKERS: tuple[Message, ...] = (
    inbound.TestRegister("t9", "t", "f", "0"),
    inbound.TestUnregister("buys"),
    inbound.RouteRegister("q9", "buys", glob("**")),
    inbound.RouteUnregister("buys#1"),
    inbound.RouteUnregister(test_id="buys"),
    claims("r2", "buys", "buys#2"),
    claims_socket("s2", "buys", "buys#4"),
    fulfill("r1"),
    inbound.HandlerResult("r1", Continue()),
    inbound.HandlerResult("r1", Abort("failed")),
    inbound.HandlerResult("r1", Fetch("f9")),
    inbound.HandlerResult("r1", Fetch("f1")),
    inbound.HandlerResult("r1", Fallback(), "1"),
    inbound.HistoryQuery("h1"),
    inbound.DiagnosisQuery("d1", "buys", [], {}, {}),
    inbound.ReportQuery("p1", 10, "buys"),
    RedactQuery("p2"),
    GlobQuery("g1", "**"),
    wait_messages.WaitRegister("w1", "buys", "request", glob("**")),
    wait_messages.WaitJudged("w1", "r1", met=True),
    wait_messages.WaitCancel("w1"),
    inbound.TestStrict("buys", []),
    inbound.RunStrict("q1", []),
    inbound.UnmatchedQuery("q1"),
    inbound.SendToPage(*FRAME),
    inbound.SendToServer(*FRAME),
    inbound.SocketConnect("s1"),
    inbound.SocketEnsureOpened("s1"),
)
OF_BOTH: tuple[Message, ...] = (inbound.ClosePage(*CLOSE), inbound.CloseServer(*CLOSE))
FOREIGN_TO_AGENTS: tuple[Message, ...] = (
    start("r1"),
    start("r3"),
    inbound.RequestCancel("r1"),
    inbound.RequestCancel("r3"),
    fetched("r1", "f1"),
    report("r1"),
    report("r3"),
    observe("r1", None),
    observe("r3", None),
    observe("r1", "r3"),
    open_socket("s1"),
    open_socket("s2"),
    inbound.MessageFromPage(*FRAME),
    inbound.MessageFromServer(*FRAME),
    *OF_BOTH,
)
QUERIES = (inbound.HistoryQuery, inbound.DiagnosisQuery, inbound.ReportQuery, RedactQuery)
"""What every worker may ask; it is handed on to who has the history."""

FOREIGN_TO_WORKERS: tuple[Message, ...] = (
    *(each for each in OF_WORKERS[1:] if not isinstance(each, QUERIES)),
    *OF_BOTH,
    inbound.TestRegister("buys", "t", "f", "0"),
    claims("r2", "buys"),
    claims("r2", "sells"),
)


class AuthorityTests(SynchronousTestCase):
    """Requests and sockets of one agent and one worker in every state, and others who meddle.

    ``r1`` is matched with a fetch out, ``r2`` is asked about, ``r3`` awaits its report;
    ``s1`` is open, ``s2`` is asked about.
    """

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent, self.worker = self.playbook.agent(), self.playbook.worker("0")
        self.other_agent, self.other_worker = (
            self.playbook.agent("other"),
            self.playbook.worker("1"),
        )
        test = self.worker.test("buys")
        test.route("http://h.test/matched")
        test.route(predicate("http://h.test/asked"))
        test.route(predicate("ws://h.test/open"), kind="websocket")
        test.route(predicate("ws://h.test/asked"), kind="websocket")
        self.other_worker.test("sells")
        for peer, message in (
            (self.agent, start("r1", "http://h.test/matched")),
            (self.worker, inbound.HandlerResult("r1", Fetch("f1"))),
            (self.agent, start("r2", "http://h.test/asked")),
            (self.agent, start("r3", "http://h.test/passed")),
            (self.agent, open_socket("s1", "ws://h.test/open")),
            (self.worker, claims_socket("s1", "buys", "buys#3")),
            (self.agent, open_socket("s2", "ws://h.test/asked")),
        ):
            peer.sends(message)
            self.playbook.take()
        self.state = self.playbook.tables()

    def meddle(self, peer: Peer, message: Message) -> Effects:
        """Let somebody say what is not theirs, and check that nobody else notices."""
        peer.sends(message)
        effects = self.playbook.take()
        for effect in effects:
            assert isinstance(effect, Send), f"{message} led to {effect}"
            self.assertEqual(effect.to, (peer.id,), message)
        self.assertEqual(self.playbook.tables(), self.state, message)
        return effects

    def everybody(self) -> Iterator[tuple[Peer, tuple[Message, ...]]]:
        yield self.worker, OF_AGENTS
        yield self.agent, OF_WORKERS
        yield self.other_worker, OF_AGENTS
        yield self.other_agent, OF_WORKERS

    def test_wrong_role(self) -> None:
        """What the other role says is noted, and not even answered."""
        for peer, messages in self.everybody():
            for message in messages:
                noted = len(self.playbook.notes)
                self.assertEqual(self.meddle(peer, message), [], message)
                self.assertEqual(len(self.playbook.notes), noted + 1, message)
                self.assertIn(type(message).__name__, self.playbook.notes[-1])

    def test_other_agent(self) -> None:
        """What is another agent's cannot be touched; an id in use is refused."""
        for message in FOREIGN_TO_AGENTS:
            effects = self.meddle(self.other_agent, message)
            refused = isinstance(message, inbound.RequestStart | inbound.SocketOpen)
            self.assertEqual(len(effects), int(refused), message)

    def test_other_worker(self) -> None:
        """What is another worker's cannot be touched; at most the meddler is told so."""
        for message in FOREIGN_TO_WORKERS:
            self.meddle(self.other_worker, message)

    def test_not_asked(self) -> None:
        """Answers of tests that were not asked, or about what is not open, do not count."""
        for message in (
            claims("r1", "buys", "buys#1"),
            claims("r3", "buys", "buys#1"),
            claims("nothing", "buys", "buys#1"),
            claims("r2", "unknown", "buys#1"),
            claims_socket("s1", "buys", "buys#3"),
            claims_socket("r2", "buys", "buys#4"),
            claims("s2", "buys", "buys#2"),
            claims_socket("nothing", "buys"),
        ):
            self.assertEqual(self.meddle(self.worker, message), [], message)

    def test_owner_of_something_else(self) -> None:
        """Being asked about a request or socket does not make its owner."""
        speak: list[Callable[[str], Message]] = [
            inbound.SocketConnect,
            inbound.SocketEnsureOpened,
            lambda socket_id: inbound.SendToPage(socket_id, "x", is_base64=False),
            lambda socket_id: inbound.ClosePage(socket_id, was_clean=True),
        ]
        for message in (fulfill("r2"), fulfill("r3"), *(send("s2") for send in speak)):
            self.assertEqual(self.meddle(self.worker, message), [], message)

    def test_gone(self) -> None:
        """What comes from connections that are gone, or never were, is not heard."""
        playbook = self.playbook
        self.other_agent.dies()
        playbook.expect()
        self.state = playbook.tables()
        for message in (start("r9"), inbound.Hello(3, "1", "node"), inbound.Ping(1)):
            playbook.deliver(self.other_agent.id, message)
            playbook.expect()
            playbook.deliver("never seen", message)
            playbook.expect()
        playbook.deliver_text(self.other_agent.id, b"nonsense")
        playbook.expect()
        playbook.disconnect("never seen")
        playbook.expect()
        self.assertEqual(playbook.tables(), self.state)

    def test_history_query(self) -> None:
        """A worker's question about the history is handed on, with who asked."""
        query = inbound.HistoryQuery("h1")
        self.worker.sends(query)
        (effect,) = self.playbook.take()
        self.assertEqual(repr(effect), f"AnswerQuery(connection_id='worker 0', query={query!r})")
