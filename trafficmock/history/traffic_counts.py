"""What is counted since the start, whatever the history keeps: decisions by host, test and worker.

A request or WebSocket counts when it is decided, once: for the test whose context it carries, else
for the test that owns it, else for no test. A **worker** is a connection of a test side: what its
tests had is the part of a test run, together with what came meanwhile of no test.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from attrs import define, field
from msgspec import Struct

from trafficmock.records import CarriedContext, Owner, TestBegan
from trafficmock.wire.payloads.quiet_repr import quiet_repr

MOST_HOSTS = 1000
"""The most hosts of all traffic, of each test, and of each worker; others count together."""

MOST_TEST_COUNTS = 20_000
"""The most counts of all tests, each of a host and a decision; the oldest tests are dropped."""

MOST_UNDECIDED = 100_000
"""The most requests, or WebSockets, that wait for a decision and will count."""

_MOST_RECENT = 1000
"""The most different decisions that are counted later, together with others like them."""

OTHER_HOSTS = "(other hosts)"
_HOST = re.compile("[^?#@]*")
_END = re.compile("[?#]")
_LONGEST_HOST = 253  # characters: the longest name of the DNS
_LONGEST_ORIGIN = 300  # characters
_SHORTEST_ORIGIN = 8  # characters: http:// and a host of one

CountedKind = Literal["requests", "web_sockets"]


class Counts(Struct):
    """How many requests, or WebSockets, were decided.

    :param decisions: the numbers, by the action.
    :param hosts: for each host, with its port if the URL has one, the numbers by the action.
    """

    decisions: dict[str, int]
    hosts: dict[str, dict[str, int]]

    def add(self, host: str, action: str, number: int) -> bool:
        """Count decisions.

        :returns: whether they are the first of this host and action.
        """
        self.decisions[action] = self.decisions.get(action, 0) + number
        if host not in self.hosts and len(self.hosts) >= MOST_HOSTS:
            host = OTHER_HOSTS
        of_host = self.hosts.setdefault(host, {})
        of_host[action] = known = of_host.get(action, 0) + number
        return known == number


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


_Decision = tuple[str, str, str | None]
"""Action, origin and the id of the test of a decision."""


class _EqualDecisions(Struct, gc=False):
    """Decisions of one action, host and test, or of no test, which are counted later."""

    action: str
    host: str
    test: CarriedContext | Owner | None
    number: int = 0

    __repr__ = quiet_repr


@define(eq=False)
class DecisionCounts:
    """Counts the decisions of one kind.

    :ivar seen: how many requests or WebSockets there were.
    :ivar recent: the decisions that are not added yet.
    """

    kind: CountedKind
    _tally: Tally
    seen: int = 0
    recent: dict[_Decision, _EqualDecisions] = field(init=False, factory=dict)
    _undecided: dict[str, tuple[str, CarriedContext | None]] = field(factory=dict)

    def saw(self, entry_id: str, url: str, carried: CarriedContext | None) -> None:
        """Count a request or WebSocket that is going to be decided."""
        self.seen += 1
        undecided = self._undecided
        undecided[entry_id] = url, carried
        if len(undecided) > MOST_UNDECIDED:
            del undecided[next(iter(undecided))]

    def decided(self, entry_id: str, action: str, owner: Owner | None = None) -> None:
        """Count a decision, but no second one."""
        found = self._undecided.pop(entry_id, None)
        if found is None:
            return
        url, carried = found
        test = carried or owner
        path = url.find("/", _SHORTEST_ORIGIN)
        origin = url if path < 0 else url[:path]
        key = action, origin, None if test is None else test.test_id
        alike = self.recent.get(key)
        if alike is None:
            alike = self._begin(key, test)
        alike.number += 1

    def _begin(self, key: _Decision, test: CarriedContext | Owner | None) -> _EqualDecisions:
        """Begin to count decisions that are alike."""
        if len(self.recent) >= _MOST_RECENT:
            self._tally.add_recent()
        action, origin, test_id = key
        host = _host(origin)
        if len(origin) > _LONGEST_ORIGIN:
            # Clients choose URLs: what is kept of one is short.
            key = action, host, test_id
        return self.recent.setdefault(key, _EqualDecisions(action, host, test))

    @property
    def all(self) -> Counts:
        """How many requests or WebSockets were decided."""
        return self._tally.all[self.kind]


@define(eq=False)
class Tally:
    """Counts decisions of both kinds, for all tests and workers.

    Most decisions are like one shortly before, so their number is added when it is read.
    """

    requests: DecisionCounts = field(init=False)
    web_sockets: DecisionCounts = field(init=False)
    _all: TrafficCounts = field(init=False, factory=TrafficCounts.none)
    _unowned: TrafficCounts = field(init=False, factory=TrafficCounts.none)
    _dropped: int = field(init=False, default=0)
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
        self.add_recent()
        return [*self._tests.values()]

    @property
    def all(self) -> Mapping[CountedKind, Counts]:
        """What was decided, by kind."""
        self.add_recent()
        return {"requests": self._all.requests, "web_sockets": self._all.web_sockets}

    def of_test(self, test_id: str) -> int:
        """Return how many requests and WebSockets of a test were decided; 0 if it was dropped."""
        self.add_recent()
        counts = self._tests.get(test_id)
        if counts is None:
            return 0
        return sum(sum(kind.decisions.values()) for kind in (counts.requests, counts.web_sockets))

    @property
    def unowned(self) -> TrafficCounts:
        """What no test had."""
        self.add_recent()
        return self._unowned

    @property
    def dropped(self) -> int:
        """How many tests were dropped for :data:`MOST_TEST_COUNTS`."""
        self.add_recent()
        return self._dropped

    def add_recent(self) -> None:
        """Add the numbers of the latest decisions, of each kind in the order of their first."""
        for counts in (self.requests, self.web_sockets):
            for each in counts.recent.values():
                self._add(counts.kind, each)
            counts.recent.clear()

    def _add(self, kind: CountedKind, alike: _EqualDecisions) -> None:
        """Count decisions for a test and its worker, or for no test."""
        action, host, number, test = alike.action, alike.host, alike.number, alike.test
        getattr(self._all, kind).add(host, action, number)
        if test is None:
            getattr(self._unowned, kind).add(host, action, number)
            return
        test_id = test.test_id
        worker = self._worker_of.get(test_id)
        if worker is not None:
            getattr(worker.tests, kind).add(host, action, number)
        counts = self._tests.get(test_id)
        if counts is None:
            none = TrafficCounts.none()
            counts = TestCounts(
                none.requests, none.web_sockets, test_id=test_id, title=test.title, path=test.file
            )
            self._tests[test_id] = counts
        self._size += getattr(counts, kind).add(host, action, number)
        while self._size > MOST_TEST_COUNTS:
            oldest = self._tests.pop(next(iter(self._tests)))
            kinds = (oldest.requests, oldest.web_sockets)
            self._size -= sum(len(each) for kind in kinds for each in kind.hosts.values())
            self._dropped += 1

    def joined(self, worker_id: str) -> None:
        """Begin to count for a worker that has connected."""
        self._workers[worker_id] = WorkerCounts(
            worker_id, TrafficCounts.none(), self.unowned.copy(), self.unowned
        )

    def began(self, record: TestBegan, _: int) -> None:
        """Count what a test has for its worker."""
        worker = self._workers.get(record.worker)
        if worker is not None:
            self.add_recent()
            self._worker_of[record.test_id] = worker

    def left(self, worker_id: str) -> None:
        """Forget a worker whose connection has ended, with its tests."""
        gone = self._workers.pop(worker_id, None)
        if gone is not None:
            self.add_recent()
            self._worker_of = {k: v for k, v in self._worker_of.items() if v is not gone}

    def of_worker(self, worker_id: str) -> WorkerCounts:
        """Return the counts of a worker, and of no test."""
        self.add_recent()
        none = TrafficCounts.none()
        return self._workers.get(worker_id) or WorkerCounts(worker_id, none, none, self._unowned)


def _host(origin: str) -> str:
    """Return the host in the beginning of a URL, with its port, without names and passwords."""
    parts = origin.split("/", 3)
    authority = parts[2] if len(parts) > 2 and not parts[1] else parts[0]  # noqa: PLR2004
    if not _HOST.fullmatch(authority):
        authority = _END.split(authority, 1)[0].rpartition("@")[2]
    return authority[:_LONGEST_HOST]
