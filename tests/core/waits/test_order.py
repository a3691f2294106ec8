"""Whatever comes in whatever order: the first that a test waits for meets the wait."""

from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.core.waits.test_waits import about_waits
from tests.support.builders import glob, predicate, report, start
from tests.support.hypothesis_profiles import profile
from tests.support.playbook import Peer, Playbook, WorkerPeer
from trafficmock.wire import inbound
from trafficmock.wire.waits.wait_messages import (
    WaitJudge,
    WaitJudged,
    WaitKind,
    WaitMet,
    WaitRegister,
)

PATHS = ("cup", "box")
steps = st.one_of(
    st.tuples(st.just("asks"), st.sampled_from(PATHS)),
    st.tuples(st.just("responds"), st.integers(0, 9)),
    st.tuples(
        st.just("waits"),
        st.sampled_from(["request", "response"]),
        st.sampled_from([*PATHS, "predicate"]),
        st.integers(0, 9),
    ),
    st.tuples(st.just("judges")),
)


def wanted_by_predicate(request_id: str) -> bool:
    return int(request_id) % 3 == 0


@define
class Expected:
    """A wait, and what should meet it.

    :param after: the number of the latest request that it does not count.
    :param met: the first that was wanted; ``None`` so far.
    """

    kind: str
    wanted: str
    after: int
    met: str | None = None

    def offer(self, kind: str, request_id: str, path: str) -> None:
        by_predicate = self.wanted == "predicate"
        wants = wanted_by_predicate(request_id) if by_predicate else path == self.wanted
        if self.met is None and kind == self.kind and int(request_id) > self.after and wants:
            self.met = request_id


@define
class Story:
    """An application, a worker, and what should happen.

    :param paths: of the requests, whose ids are their places from 1 on.
    :param responded: the requests that have their response.
    :param questions: what the worker has not answered.
    """

    playbook: Playbook
    paths: list[str] = field(factory=list)
    responded: list[str] = field(factory=list)
    expected: dict[str, Expected] = field(factory=dict)
    met: dict[str, str] = field(factory=dict)
    questions: list[WaitJudge] = field(factory=list)
    agent: Peer = field(init=False)
    worker: WorkerPeer = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.agent = self.playbook.agent()
        self.worker = self.playbook.worker(features=("warnings",))
        self.worker.sends(inbound.TestRegister("t", "t", "f.py", "0"))
        self.listen()

    def listen(self) -> None:
        for message in about_waits(self.playbook.take()):
            if isinstance(message, WaitMet):
                self.met[message.wait_id] = message.request_id
            elif isinstance(message, WaitJudge):
                self.questions.append(message)

    def asks(self, path: str) -> None:
        self.paths.append(path)
        request_id = str(len(self.paths))
        self.agent.sends(start(request_id, f"http://h.test/{path}"))
        self.tell("request", request_id)

    def responds(self, number: int) -> None:
        waiting = [
            str(each) for each in range(1, len(self.paths) + 1) if str(each) not in self.responded
        ]
        if waiting:
            request_id = waiting[number % len(waiting)]
            self.responded.append(request_id)
            self.agent.sends(report(request_id))
            self.tell("response", request_id)

    def tell(self, kind: str, request_id: str) -> None:
        for each in self.expected.values():
            each.offer(kind, request_id, self.paths[int(request_id) - 1])
        self.listen()

    def waits(self, kind: WaitKind, wanted: str, after: int) -> None:
        after = min(after, len(self.paths))
        wait_id = f"w{len(self.expected)}"
        self.expected[wait_id] = wait = Expected(kind, wanted, after)
        for number, path in enumerate(self.paths, 1):
            if kind == "request" or str(number) in self.responded:
                wait.offer(kind, str(number), path)
        matcher = predicate() if wanted == "predicate" else glob(f"**/{wanted}")
        latest = str(after) if after else UNSET
        self.worker.sends(WaitRegister(wait_id, "t", kind, matcher, after=latest))
        self.listen()

    def judges(self) -> None:
        if self.questions:
            asked = self.questions.pop(0)
            met = wanted_by_predicate(asked.request_id)
            self.worker.sends(WaitJudged(asked.wait_id, asked.request_id, met=met))
            self.listen()


class OrderTests(SynchronousTestCase):
    """Requests, responses, waits that began before they were registered, and slow predicates."""

    @profile(200)
    @given(st.lists(steps, max_size=40))
    def test_first(self, story: list[tuple[object, ...]]) -> None:
        """Each wait is met by the first that it wants, if there is one."""
        sent = Story(Playbook(self))
        for name, *args in story:
            getattr(sent, str(name))(*args)
        while sent.questions:
            sent.judges()
        first = {key: each.met for key, each in sent.expected.items() if each.met is not None}
        self.assertEqual(sent.met, first)
