"""Records connections whose requests nobody sees, and warns the test that they belong to.

An agent tells of each session of HTTP/2, and of each tunnel, that it lets pass: by
``request:observe`` with the method CONNECT. What goes over it reaches the real server, whatever a
test mocks, so a test that passes may have called that server. The history has the connection, and
the test of its context is warned; without a context the only test that runs.
"""

from __future__ import annotations

from collections import defaultdict

from attrs import define, field

from trafficmock.core.effects import EffectList
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import AwaitedReport, ContextTest
from trafficmock.core.state.peers import Agent
from trafficmock.core.state.registered import RegisteredTest
from trafficmock.matching.url_parts import bare_url
from trafficmock.records import RequestPassedThrough, RequestSeen
from trafficmock.texts.wording import Wording, url_text
from trafficmock.wire.features import WARNINGS
from trafficmock.wire.inbound import RequestObserve
from trafficmock.wire.outbound import UNSEEN_CONNECTION, TestWarning

MOST_TOLD = 20
"""The most different origins that one test is warned of."""

_LONGEST_URL = 300

_REMEDY = (
    "Its requests (HTTP/2 alone, as of gRPC, TLS with a certificate of the client, or a tunnel of "
    "the application's own) are not seen: they reach the real server, whatever this test mocks. "
    "Have the client use HTTP/1.1, refuse such connections by strict mode, or name the host in "
    "TRAFFICMOCK_IGNORE_HOSTS."
)


@define
class UnseenConnections:
    """Records the connections that agents let pass, and warns tests of them.

    :ivar told: of which applications and origins each test was warned.
    """

    state: SharedState
    told: dict[RegisteredTest, set[tuple[str, str]]] = field(
        init=False, factory=lambda: defaultdict(set)
    )

    def passed(
        self,
        agent: Agent,
        message: RequestObserve,
        context_test: ContextTest | None,
        out: EffectList,
        *,
        allowed: bool,
    ) -> None:
        """Record a connection that was let pass.

        :param allowed: whether strict mode allows it, which says that it is known.
        """
        carried = None if context_test is None else context_test.carried
        request = message.request
        out.record(RequestSeen(message.request_id, message.client_id, request, carried=carried))
        out.record(RequestPassedThrough(message.request_id))
        report = AwaitedReport(
            request_id=message.request_id,
            action="passthrough",
            owner=None,
            observers=(),
            head=message.request_id,
            recorded=True,
            context_test=context_test,
        )
        self.state.awaited.add(agent, report, out)
        test = self._test(context_test)
        if test is not None and not allowed:
            self._warn(test, message, out)

    def forget(self, test: RegisteredTest) -> None:
        """Forget a test that has ended."""
        self.told.pop(test, None)

    def _test(self, context_test: ContextTest | None) -> RegisteredTest | None:
        """Return the test that a connection belongs to, if that can be told."""
        if isinstance(context_test, RegisteredTest):
            return None if context_test.is_over else context_test
        running = [test for test in self.state.registry.tests.values() if not test.shared]
        return running[0] if len(running) == 1 and context_test is None else None

    def _warn(self, test: RegisteredTest, message: RequestObserve, out: EffectList) -> None:
        told, key = self.told[test], (message.client_id, message.request.url)
        if WARNINGS not in test.worker.features or key in told or len(told) >= MOST_TOLD:
            return
        told.add(key)
        url = url_text(bare_url(message.request.url).removesuffix("/"), _LONGEST_URL)
        text = Wording(
            f'The application "{message.client_id}" has connected to ', url, f". {_REMEDY}"
        )
        out.send(test.worker.id, TestWarning(test.id, UNSEEN_CONNECTION, text))
