"""What is counted since the start, whatever the history keeps: decisions by host, test and worker.

A request or WebSocket counts when it is decided, once: for the test whose context it carries, else
for the test that owns it, else for no test. A **worker** is a connection of a test side: what its
tests had is the part of a test run, together with what came meanwhile of no test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from attrs import define, field
from msgspec import Struct

if TYPE_CHECKING:
    from trafficmock.records import CarriedContext, Owner, TestBegan

MOST_HOSTS = 1000
"""The most hosts of all traffic, of each test, and of each worker; others count together."""

MOST_TEST_COUNTS = 20_000
"""The most counts of all tests, each of a host and a decision; the oldest tests are dropped."""

MOST_UNDECIDED = 100_000
"""The most requests, or WebSockets, that wait for a decision and will count."""

OTHER_HOSTS = "(other hosts)"
_LONGEST_HOST = 253  # characters: the longest name of the DNS

Kind = Literal["requests", "web_sockets"]


class Counts(Struct):
    """How many requests, or WebSockets, were decided.

    :param decisions: the numbers, by the action.
    :param hosts: for each host, with its port if the URL has one, the numbers by the action.
    """

    decisions: dict[str, int]
    hosts: dict[str, dict[str, int]]

    def add(self, host: str, action: str) -> bool:
        """Count a decision.

        :returns: whether it is the first of this host and action.
        """
        self.decisions[action] = self.decisions.get(action, 0) + 1
        if host not in self.hosts and len(self.hosts) >= MOST_HOSTS:
            host = OTHER_HOSTS
        of_host = self.hosts.setdefault(host, {})
        of_host[action] = known = of_host.get(action, 0) + 1
        return known == 1


class TrafficCounts(Struct, rename="camel"):
    """The counts of both kinds."""

    requests: Counts
    web_sockets: Counts

    @classmethod
    def none(cls) -> TrafficCounts:
        """Return counts of nothing."""
        return cls(Counts({}, {}), Counts({}, {}))

    def copy(self) -> TrafficCounts:
        """Return these counts as they are now."""
        return TrafficCounts(*(_copy(each) for each in (self.requests, self.web_sockets)))


def _copy(counts: Counts) -> Counts:
    return Counts({**counts.decisions}, {host: {**each} for host, each in counts.hosts.items()})


class TestCounts(TrafficCounts, kw_only=True):
    """The counts of one test."""

    __test__ = False

    test_id: str
    title: str
    path: str


class WorkerCounts(Struct, rename="camel"):
    """What a report says of a worker's part in a run.

    :param worker: names its connection; it begins with the name of this start of the service.
    :param tests: what its tests had.
    :param before: what no test had until the worker connected.
    :param unowned: what no test had until now.
    """

    worker: str
    tests: TrafficCounts
    before: TrafficCounts
    unowned: TrafficCounts


class _Test(NamedTuple):
    test_id: str
    title: str
    path: str


@define(eq=False)
class DecisionCounts:
    """Counts the decisions of one kind.

    :ivar seen: how many requests or WebSockets there were.
    :ivar all: how many of them were decided.
    """

    kind: Kind
    _tally: Tally
    seen: int = 0
    all: Counts = field(factory=lambda: Counts({}, {}))
    _undecided: dict[str, tuple[str, _Test | None]] = field(factory=dict)

    def saw(self, entry_id: str, url: str, carried: CarriedContext | None) -> None:
        """Count a request or WebSocket that is going to be decided."""
        self.seen += 1
        test = None if carried is None else _Test(carried.test_id, carried.title, carried.file)
        undecided = self._undecided
        undecided[entry_id] = _host(url), test
        if len(undecided) > MOST_UNDECIDED:
            del undecided[next(iter(undecided))]

    def decided(self, entry_id: str, action: str, owner: Owner | None = None) -> None:
        """Count a decision, but no second one."""
        found = self._undecided.pop(entry_id, None)
        if found is None:
            return
        host, test = found
        if test is None and owner is not None:
            test = _Test(owner.test_id, owner.title, owner.file)
        self.all.add(host, action)
        self._tally.add(self.kind, test, host, action)


@define(eq=False)
class Tally:
    """Counts decisions of both kinds, for all tests and workers.

    :ivar unowned: what no test had.
    :ivar dropped: how many tests were dropped for :data:`MOST_TEST_COUNTS`.
    """

    requests: DecisionCounts = field(init=False)
    web_sockets: DecisionCounts = field(init=False)
    unowned: TrafficCounts = field(init=False, factory=TrafficCounts.none)
    dropped: int = field(init=False, default=0)
    _tests: dict[str, TestCounts] = field(init=False, factory=dict)
    _size: int = field(init=False, default=0)
    _workers: dict[str, WorkerCounts] = field(init=False, factory=dict)
    _worker_of: dict[str, WorkerCounts] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self.requests = DecisionCounts("requests", self)
        self.web_sockets = DecisionCounts("web_sockets", self)

    @property
    def tests(self) -> list[TestCounts]:
        """The counts of each test that had traffic, oldest first."""
        return [*self._tests.values()]

    def add(self, kind: Kind, test: _Test | None, host: str, action: str) -> None:
        """Count a decision for a test and its worker, or for no test."""
        if test is None:
            getattr(self.unowned, kind).add(host, action)
            return
        worker = self._worker_of.get(test.test_id)
        if worker is not None:
            getattr(worker.tests, kind).add(host, action)
        counts = self._tests.get(test.test_id)
        if counts is None:
            none = TrafficCounts.none()
            counts = TestCounts(none.requests, none.web_sockets, **test._asdict())
            self._tests[test.test_id] = counts
        self._size += getattr(counts, kind).add(host, action)
        while self._size > MOST_TEST_COUNTS:
            oldest = self._tests.pop(next(iter(self._tests)))
            kinds = (oldest.requests, oldest.web_sockets)
            self._size -= sum(len(each) for kind in kinds for each in kind.hosts.values())
            self.dropped += 1

    def joined(self, worker_id: str) -> None:
        """Begin to count for a worker that has connected."""
        self._workers[worker_id] = WorkerCounts(
            worker_id, TrafficCounts.none(), self.unowned.copy(), self.unowned
        )

    def began(self, record: TestBegan, _: int) -> None:
        """Count what a test has for its worker."""
        worker = self._workers.get(record.worker)
        if worker is not None:
            self._worker_of[record.test_id] = worker

    def left(self, worker_id: str) -> None:
        """Forget a worker whose connection has ended, with its tests."""
        gone = self._workers.pop(worker_id, None)
        if gone is not None:
            self._worker_of = {k: v for k, v in self._worker_of.items() if v is not gone}

    def of_worker(self, worker_id: str) -> WorkerCounts:
        """Return the counts of a worker, and of no test."""
        none = TrafficCounts.none()
        return self._workers.get(worker_id) or WorkerCounts(worker_id, none, none, self.unowned)


def _host(url: str) -> str:
    """Return the host of a URL, with its port if it has one, without user names and passwords."""
    _, found, rest = url.partition("://")
    authority = (rest if found else url).partition("/")[0].partition("?")[0].partition("#")[0]
    return authority.rpartition("@")[2][:_LONGEST_HOST]
