"""Decides whether strict mode refuses a request that no route matches.

Such a request belongs to a test, or to none. A request of a test is refused if the test or the
service is strict; a request of no test is refused if a run or the service is strict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial

from attrs import define, field, frozen

from trafficmock.core.ownership.compared_content import content_of
from trafficmock.core.ownership.registry import Registry
from trafficmock.core.state.lifecycle import ContextTest, Owned, PendingRequest
from trafficmock.core.state.peers import Agent
from trafficmock.core.state.registered import RegisteredRoute, RegisteredTest
from trafficmock.matching.allow_list import AllowList
from trafficmock.matching.host_pattern import HostPattern, is_under_test
from trafficmock.matching.patterns.unix_sockets import is_unix_socket
from trafficmock.matching.url_parts import UrlParts, url_parts
from trafficmock.wire.features import SEEN_CONTEXTS, STRICT

MOST_KNOWN = 10_000
"""The most processes that tell of contexts which are remembered; others count for no command."""


@frozen
class StartedCommand:
    """A command that ``trafficmock run`` has become.

    :param mark: names its process; empty where that is not known.
    """

    pid: int | None
    mark: str


@define
class SeenApplications:
    """The applications and tests of one run: from the end of the last strict run, or the start.

    Without an application strict mode has nothing to refuse, and its tests would pass, whatever an
    application sends beside the proxy. An agent is seen when it connects, a client of the forward
    proxy with its first request.

    :ivar any_application: whether an agent or a client of the forward proxy was connected.
    :ivar any_silent: whether one of them does not tell of contexts that come in (feature
        ``seen-contexts``).
    :ivar started: the commands that ``trafficmock run`` has started, and of which no process has
        told yet: in this run, and in earlier ones if they may serve still.
    :ivar may_run: returns whether a process may run still, by its mark.
    :ivar reported: the command lines of the processes that told first since the last such start:
        the workers of a server have the same one, and so has one that its watcher starts again.
    :ivar known: the processes that tell: they may connect again.
    :ivar any_test: whether a test was registered. Shared routes are not a test.
    """

    any_application: bool = False
    any_silent: bool = False
    any_test: bool = False
    started: list[StartedCommand] = field(factory=list)
    may_run: Callable[[str], bool] = lambda _: True
    reported: set[str] = field(factory=set)
    known: set[tuple[str, int | None]] = field(factory=set)

    @property
    def is_missing(self) -> bool:
        """Whether tests ran without any application. Unit tests without mocks register none."""
        return self.any_test and not self.any_application

    @property
    def all_tell(self) -> bool:
        """Whether each application tells of the contexts that come in."""
        return not self.any_silent and not self.started

    def met(self, agent: Agent) -> None:
        """Note an agent, or a client of the forward proxy."""
        self.any_application = True
        name = agent.command or agent.client_id
        if SEEN_CONTEXTS in agent.features:
            if (name, agent.pid) in self.known or len(self.known) >= MOST_KNOWN:
                return
            self.known.add((name, agent.pid))
            if name not in self.reported:
                self.reported.add(name)
                self._forget_command_of(agent)
        elif agent.features or not agent.command:
            self.any_silent = True
        else:
            # An agent without features that names its command: ``trafficmock run``.
            self.started.append(StartedCommand(agent.pid, agent.process_mark))
            self.reported.clear()

    def _forget_command_of(self, agent: Agent) -> None:
        """Forget the command of a process that tells: its own one, else the oldest."""
        own = [each for each in self.started if each.pid is not None and each.pid == agent.pid]
        for command in (own or self.started)[:1]:
            self.started.remove(command)

    def next_run(self, connected: Iterable[Agent]) -> None:
        """Begin the next run.

        :param connected: the applications that are connected now.
        """
        self.any_application = self.any_silent = self.any_test = False
        self.started = [each for each in self.started if self.may_run(each.mark)]
        for agent in connected:
            self.met(agent)


@frozen
class Refusal:
    """The refusal of a request by strict mode.

    :param test: the test that the request belongs to; ``None`` for none.
    :param allow: the patterns of the allow lists in force.
    :param parts: the parts of the request's URL; ``None`` if it cannot be parsed.
    :param lost_until: the end of the refusals in epoch ms, if only lost runs refuse the request.
    :param awaits_body: whether the body, which is still to come, decides if it is refused.
    """

    test: RegisteredTest | None
    allow: tuple[str, ...]
    parts: UrlParts | None
    lost_until: int | None = None
    awaits_body: bool = False


@define
class Strictness:
    """The strict tests and runs, and the decision about requests.

    :param service: the allow list of a strict service; ``None`` unless the service is strict.
    :param own_hosts: further hosts of the system under test (``--own-host``).
    :ivar runs: the allow lists of strict runs, by connection.
    :ivar lost: the end in epoch ms of the runs whose worker is gone, by connection.
    :ivar tests: the allow lists of strict tests, by test id.
    :ivar applications: whether an application was seen in this run.
    :ivar judged_at: when the last request was judged, in monotonic seconds.
    """

    registry: Registry
    service: AllowList | None
    own_hosts: tuple[HostPattern, ...]
    runs: dict[str, AllowList] = field(factory=dict)
    lost: dict[str, int] = field(factory=dict)
    tests: dict[str, AllowList] = field(factory=dict)
    applications: SeenApplications = field(factory=SeenApplications)
    judged_at: float = 0.0

    # Strict tests and runs

    def end_test(self, test: RegisteredTest) -> None:
        """Handle the end of a test: if it was strict, its late requests are still refused."""
        test.allow_late = self.tests.pop(test.id, None)

    def saw_no_application(self, test: RegisteredTest) -> bool:
        """Return whether a strict test ran without an application.

        In a strict run or service the run is judged at its end, by
        :meth:`run_saw_no_application`: not each of its tests needs the application.
        """
        is_alone = test.id in self.tests and self.service is None and not self.runs
        return is_alone and self.applications.is_missing

    def has_unseen_context(self, test: RegisteredTest) -> bool:
        """Return whether a strict test called an application, and none has reported its context.

        Its requests may have gone to real servers, past the proxy. Only if each application tells
        of the contexts that come in, its silence means something.
        """
        is_strict = test.id in self.tests or self.service is not None or bool(self.runs)
        if test.context_seen or not test.called_origin or not is_strict:
            return False
        return self.applications.any_application and self.applications.all_tell

    def run_saw_no_application(self) -> bool:
        """Return whether the tests of a strict run or service ran without an application."""
        is_strict = self.service is not None or bool(self.runs)
        return is_strict and self.applications.is_missing

    def lost_in_force(self) -> list[tuple[AllowList, int]]:
        """Return the allow lists and ends (epoch ms) of lost runs, unless a run is connected."""
        if self.runs.keys() != self.lost.keys():
            return []
        return [(self.runs[run_id], until) for run_id, until in self.lost.items()]

    def _runs_in_force(self) -> list[AllowList]:
        """Return the allow lists of the connected strict runs, without any those of lost runs.

        A new run replaces a lost one, whose allow list may allow more.
        """
        connected = [allow for run_id, allow in self.runs.items() if run_id not in self.lost]
        return connected or list(self.runs.values())

    # The decision

    def refusal(self, pending: Owned, url: str | None = None) -> Refusal | None:
        """Decide about a request or WebSocket that no route matches.

        :param url: the URL that it would be sent to, if not its own.
        :returns: ``None`` if it may pass.
        """
        if self._is_off(pending) or is_unix_socket(url or pending.url):
            return None
        context_test = self._belongs_to(pending)
        lists = self._in_force(context_test)
        if not lists:
            return None
        url = url or pending.url
        parts = url_parts(url)
        if parts is not None and is_under_test(self.own_hosts, parts.host, parts.port):
            return None
        met = any(allowed.allows(url, parts) for allowed in lists) or self._meet(
            lists, pending, url
        )
        if met:
            return None
        texts = tuple(dict.fromkeys(text for allowed in lists for text in allowed.texts))
        if isinstance(context_test, RegisteredTest) and not context_test.is_over:
            return Refusal(context_test, texts, parts, awaits_body=met is None)
        until = self._lost_until(context_test)
        return Refusal(None, texts, parts, until, awaits_body=met is None)

    def _meet(self, lists: list[AllowList], pending: Owned, url: str) -> bool | None:
        """Return whether a request meets a matcher; ``None`` if that depends on a body to come."""
        lists = [each for each in lists if each.matchers]
        if not lists:
            return False
        method, content = pending.method, None
        if isinstance(pending, PendingRequest):
            request = pending.request if pending.chain is None else pending.chain.request
            method, is_pending = request.method, pending.deferred is not None
            content = cache(partial(content_of, request, self.registry, is_pending=is_pending))
        met = [each.meets(url, method, pending.client_id, content) for each in lists]
        return True if True in met else None if None in met else False

    def judges_hops(self, pending: PendingRequest) -> bool:
        """Return whether the agent must ask before it follows a redirect of this request."""
        if STRICT not in pending.agent.features or self._is_off(pending):
            return False
        return bool(self._in_force(self._belongs_to(pending)))

    def only_strict_test(self, pending: Owned) -> RegisteredTest | None:
        """Return the strict test that a request without a context belongs to, before a claim."""
        if pending.context_test is not None or pending.framework is not None or not self.tests:
            return None
        alone = self._only_test()
        return alone if alone is not None and alone.id in self.tests else None

    def candidates(self, test: RegisteredTest | None, kind: str) -> Iterator[RegisteredRoute]:
        """Yield the routes that serve the requests of ``test``, the newest first.

        :param test: ``None`` for all routes.
        """
        for route in reversed(self.registry.routes.values()):
            if (
                route.kind == kind
                and route.test is not None
                and (test is None or route.test.serves(test))
            ):
                yield route

    def _is_off(self, pending: Owned) -> bool:
        """Return whether nothing is strict, a fast path for most requests."""
        if self.service is not None or self.tests or self.runs:
            return False
        if pending.context_test is not None:
            return pending.context_test.allow_late is None
        return pending.only_test is None

    def _belongs_to(self, pending: Owned) -> ContextTest | None:
        if pending.framework is not None:
            return None
        return pending.context_test or pending.test or pending.only_test or self._only_test()

    def _only_test(self) -> RegisteredTest | None:
        alone = [test for test in self.registry.tests.values() if not test.shared][:2]
        if len(alone) != 1:
            return None
        (test,) = alone
        if test.context is None:
            return test
        # In a strict run or service, what carries no context fails the run.
        run_judges = self.service is not None or bool(self.runs)
        return None if run_judges else test

    def _lost_until(self, context_test: ContextTest | None) -> int | None:
        is_of_test = isinstance(context_test, RegisteredTest)
        if is_of_test or self.service is not None:
            return None
        return max((until for _, until in self.lost_in_force()), default=None)

    def _in_force(self, context_test: ContextTest | None) -> list[AllowList]:
        """Return the allow lists for the requests of a test; empty if they are not refused.

        For a request that began before the end of its test, the allow list of the test counts,
        also after the end. A later request belongs to no test: the lists of service and runs
        count, and that of the test only without them.
        """
        of_service = [] if self.service is None else [self.service]
        if isinstance(context_test, RegisteredTest):
            own = self.tests.get(context_test.id, context_test.allow_late)
            return of_service if own is None else [own, *of_service]
        of_nobody = [*of_service, *self._runs_in_force()]
        if of_nobody or context_test is None or context_test.allow_late is None:
            return of_nobody
        return [context_test.allow_late]
