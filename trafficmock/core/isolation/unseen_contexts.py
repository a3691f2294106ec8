"""Lets a strict test wait at its end until an attached application reports its context.

The browser of the test, or a client of the test itself, has called an application. The connection
by which that tells of the context is not the test's, so its message may be read after the test's
last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import define, field

from trafficmock.core.deadlines import Deadlines
from trafficmock.core.effects import EffectList
from trafficmock.core.ownership.strictness import Strictness
from trafficmock.core.state.registered import RegisteredTest
from trafficmock.matching.host_pattern import PatternError
from trafficmock.matching.origin_pattern import is_application, read_origin_patterns
from trafficmock.matching.url_parts import url_parts
from trafficmock.wire.payloads.application_origins import CalledServers

REPORT_SECONDS = 1.0
"""How long a test waits; an application sends its message before it answers."""


@define
class UnseenContexts:
    """The tests that wait, with whether they passed and until when, the earliest first.

    :param end_seen: ends those that need not wait any more.
    :ivar waiting: by test; ``None`` for a test that does not say whether it passed, and monotonic
        seconds.
    """

    strictness: Strictness
    deadlines: Deadlines
    end_seen: Callable[[EffectList], None]
    waiting: dict[RegisteredTest, tuple[bool | None, float]] = field(factory=dict)

    def called(self, test: RegisteredTest, servers: CalledServers) -> None:
        """Note the first of the servers that is the application of a test.

        None of them is if a pattern of the application's origins is invalid, or if the process of
        the test is attached and there are no such patterns: an application in that process may have
        called them.
        """
        application = servers.application
        if servers.attached and not application.origins:
            return
        try:
            patterns = read_origin_patterns(application.origins)
        except PatternError:
            return
        own_hosts = self.strictness.own_hosts
        everywhere = application.hosts_under_test and not servers.attached
        for origin in servers.origins:
            parts = url_parts(origin)
            if parts is not None and is_application(
                patterns, own_hosts, parts.scheme, parts.host, parts.port, everywhere=everywhere
            ):
                test.called_origin = test.called_origin or origin

    def awaits(self, test: RegisteredTest, out: EffectList, *, passed: bool | None) -> bool:
        """Return whether a test waits from now on, or waits already."""
        if test not in self.waiting and self.strictness.has_unseen_context(test):
            until = out.now.seconds + REPORT_SECONDS
            self.waiting[test] = passed, until
            self.deadlines.add(until, self.end_seen, out)
        return test in self.waiting

    def ready(self, now: float) -> Iterator[tuple[RegisteredTest, bool | None]]:
        """Yield the tests that need not wait any more, with whether they passed.

        :param now: monotonic seconds.
        """
        for test, (passed, until) in list(self.waiting.items()):
            if until <= now or not self.strictness.has_unseen_context(test):
                del self.waiting[test]
                yield test, passed

    def forget(self, test: RegisteredTest) -> None:
        """Forget a test that has ended."""
        self.waiting.pop(test, None)
