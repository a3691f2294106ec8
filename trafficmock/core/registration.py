"""Handles the messages by which workers register tests, and register and remove routes.

``ended_tests`` has the end of a test.
"""

from __future__ import annotations

from functools import partial

from attrs import define
from msgspec import UNSET, UnsetType, structs

from trafficmock.core import error_messages
from trafficmock.core.answers.given_answers import BadAnswerError, read_answers
from trafficmock.core.answers.languages import WrongOptionError
from trafficmock.core.effects import EffectList, OpenBrowserProxy
from trafficmock.core.http.awaited_reports import tell_of_ends
from trafficmock.core.http.observation import clock_reading, may_observe
from trafficmock.core.http.request_routing import RequestRouting
from trafficmock.core.isolation.unhooked_libraries import UnhookedLibraries
from trafficmock.core.isolation.wanted_origins import WantedOrigins
from trafficmock.core.local.local_decisions import LocalDecisions
from trafficmock.core.ownership.given_globs import read_matcher
from trafficmock.core.ownership.lost_runs import LostRuns
from trafficmock.core.ownership.refusals import excuses
from trafficmock.core.ownership.registry import with_observer
from trafficmock.core.ownership.run_routes import RunRouteError
from trafficmock.core.ownership.unowned_refusals import UnownedRefusals
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.peers import Worker
from trafficmock.core.state.registered import RegisteredRoute, RegisteredTest
from trafficmock.core.strict_mode import read_allowed
from trafficmock.matching import GlobError
from trafficmock.matching.allow_list import AllowList
from trafficmock.matching.host_pattern import PatternError
from trafficmock.matching.origin_pattern import read_origin_patterns
from trafficmock.records import TestBegan
from trafficmock.wire import inbound, outbound
from trafficmock.wire.features import CHAIN, CONTEXT, STRICT, SUBSCRIBE
from trafficmock.wire.inbound import Behavior
from trafficmock.wire.payloads.application_origins import ApplicationOrigins

_TOLD_THE_TIME = frozenset({CONTEXT, SUBSCRIBE})
"""The features with which ``test:registered`` has the time, ``at``."""


@define
class Registration:
    """Changes the registry, then acknowledges: after the acknowledgement the change applies."""

    __test__ = False

    state: SharedState
    local: LocalDecisions
    requests: RequestRouting
    lost_runs: LostRuns
    wanted_origins: WantedOrigins
    unhooked_libraries: UnhookedLibraries
    unowned: UnownedRefusals

    def add_test(self, worker: Worker, message: inbound.TestRegister, out: EffectList) -> None:
        context = message.context if CONTEXT in worker.features else UNSET
        holder = self.state.contexts.running.get(context or "")
        try:
            allow = _allow_list(worker, message)
        except PatternError as error:
            text = f"The allow list of strict mode cannot be read: {error}."
            self._refuse(worker, message.test_id, text, out)
            return
        application = message.browser_proxy or ApplicationOrigins()
        if context is not UNSET and holder is not worker.tests.get(message.test_id):
            self._refuse(worker, message.test_id, error_messages.CONTEXT_IN_USE, out)
        elif (unmatchable := _unmatchable(application)) is not None:
            text = error_messages.unmatchable_origin(unmatchable)
            self._refuse(worker, message.test_id, text, out)
        elif self.state.registry.add_test(worker, message):
            self.lost_runs.test_registered()
            if context is not UNSET and holder is None:
                self.state.contexts.reserve(context, worker.tests[message.test_id])
                # Before the answer, so that it holds for all that the test does.
                self.wanted_origins.contexts_changed(out)
            if allow is not None:
                self.state.strictness.tests[message.test_id] = allow
            at = out.now.epoch_ms if worker.features & _TOLD_THE_TIME else UNSET
            clock = clock_reading(worker, out.now.seconds)
            registered = outbound.TestRegistered(message.test_id, at, clock=clock)
            test = worker.tests[message.test_id]
            _began(test, out)
            self.state.strictness.applications.any_test |= not test.shared
            if context is not UNSET and message.browser_proxy is not UNSET:
                test.has_browser_proxy = True

            def acknowledge(out: EffectList) -> None:
                if test.has_browser_proxy and test.context is not None and not test.is_over:
                    out.append(OpenBrowserProxy(worker.id, registered, test.context, application))
                else:
                    out.send(worker.id, registered)
                self.unhooked_libraries.began(test, out)

            self.local.when_applied(worker, test.routes.values(), out, acknowledge)
        else:
            text = f"The test id {message.test_id} is in use by another worker."
            self._refuse(worker, message.test_id, text, out)

    def subscribe(
        self,
        worker: Worker,
        message: inbound.TestSubscribe,
        out: EffectList,
    ) -> None:
        """Subscribe a test to all later events, also to the ends of unsettled requests."""
        test = worker.tests.get(message.test_id)
        if test is None or SUBSCRIBE not in worker.features:
            _note_foreign(worker, f"to subscribe for the test {message.test_id}", out)
            return
        self.state.registry.subscribe(test)
        for agent in self.state.agents():
            for pending in agent.pending.values():
                if may_observe(worker, pending.context_test):
                    pending.observers = with_observer(pending.observers, worker.id)
            # An agent with the feature `local` may still report requests from before.
            tell_of_ends(agent, worker, unasked=agent.id not in self.local.agents)
        subscribed = outbound.TestSubscribed(test.id)
        self.local.when_applied(worker, (), out, lambda out: out.send(worker.id, subscribed))

    def add_route(self, worker: Worker, message: inbound.RouteRegister, out: EffectList) -> None:
        try:
            matcher = read_matcher(worker, message.matcher, message.kind)
        except GlobError as error:
            test_id, route_id = message.test_id, message.route_id
            refusal = outbound.ProxyError("invalid_glob", str(error), test_id, route_id=route_id)
            out.send(worker.id, refusal)
            return
        message = structs.replace(message, matcher=matcher)
        try:
            answers = read_answers(self.state, worker, message)
        except WrongOptionError as error:
            test_id, route_id = message.test_id, message.route_id
            refusal = outbound.ProxyError("wrong_option", str(error), test_id, route_id=route_id)
            out.send(worker.id, refusal)
            return
        except BadAnswerError as error:
            text = error_messages.bad_reply(str(error))
            self._refuse(worker, message.test_id, text, out, route_id=message.route_id)
            return
        try:
            added = self.state.registry.add_route(worker, message, answers)
        except RunRouteError as error:
            test, place = self.state.registry.tests[message.test_id], message.place
            text = error_messages.other_answer_of_run(error.different, error.first, test, place)
            self._refuse(worker, message.test_id, text, out, route_id=message.route_id)
            return
        if added:
            heads = answers.heads() if answers is not None and answers.given else UNSET
            registered = outbound.RouteRegistered(message.route_id, heads)
            # A copy of a route of the run that is used up is not kept.
            route = self.state.registry.routes.get(message.route_id)
            active = () if route is None or route.test is None else (route,)
            if route is not None:
                self._forgive(route)
            self.local.when_applied(
                worker, active, out, lambda out: out.send(worker.id, registered)
            )
        else:
            text = f"The route id {message.route_id} is in use, or its test is another worker's."
            self._refuse(worker, message.test_id, text, out, route_id=message.route_id)

    def _forgive(self, route: RegisteredRoute) -> None:
        """Forget what was refused before the first test, and what a shared route is there for.

        Strict mode begins when the worker is connected, and its fixtures register their routes
        after that.
        """
        test = route.test
        if test is None or not test.shared or self.state.strictness.applications.any_test:
            return
        self.unowned.forgive(partial(excuses, route))

    def remove_route(
        self, worker: Worker, message: inbound.RouteUnregister, out: EffectList
    ) -> None:
        """Remove one route, or all routes of a test; an unknown one counts as removed."""
        test, registry = worker.tests.get(message.test_id or ""), self.state.registry
        if test is not None and message.behavior is not UNSET:
            self._remove_handlers(test, message.behavior, out)
        elif message.route_id is not UNSET:
            if message.route_id in registry.routes and not registry.remove_route(
                worker, message.route_id
            ):
                _note_foreign(worker, f"to remove the route {message.route_id}", out)
                return
        elif message.test_id is not UNSET:
            registry.remove_routes_of(worker, message.test_id)
        answer = outbound.RouteUnregistered(message.route_id, message.test_id)
        out.send(worker.id, answer)

    def _remove_handlers(self, test: RegisteredTest, behavior: Behavior, out: EffectList) -> None:
        """Remove all routes of a test for requests, see :class:`~.inbound.RouteUnregister`."""
        removed = [route for route in test.routes.values() if route.kind == "http"]
        for route in removed:
            route.ignores_errors = behavior == "ignoreErrors"
            self.state.registry.remove_route(test.worker, route.id)
        if behavior != "default":
            return
        for pending in list(test.requests.values()):
            chain = pending.chain
            decided = self.state.planned.has(pending)
            if chain is not None and chain.route in removed and not decided:
                self.requests.continue_unhandled(pending, chain, out)

    @staticmethod
    def _refuse(
        worker: Worker,
        test_id: str,
        text: str,
        out: EffectList,
        *,
        route_id: str | UnsetType = UNSET,
    ) -> None:
        named = route_id if CHAIN in worker.features else UNSET
        error = outbound.ProxyError("invalid_message", text, test_id, route_id=named)
        out.send(worker.id, error)


def _began(test: RegisteredTest, out: EffectList) -> None:
    """Note the time of the first registration of a test."""
    if not test.registered_at:
        test.registered_at = out.now.epoch_ms
        context, worker = test.context, test.worker.id
        out.record(TestBegan(test.id, test.title, test.file, context, worker, shared=test.shared))


def _allow_list(worker: Worker, message: inbound.TestRegister) -> AllowList | None:
    """Return the allow list of a strict test, ``None`` for a test that is not strict.

    :raises PatternError: for an invalid pattern.
    """
    if message.strict is UNSET or STRICT not in worker.features:
        return None
    return read_allowed(message.strict.allow)


def _unmatchable(application: ApplicationOrigins) -> PatternError | None:
    """Return the error for the first origin of the application that no origin can match."""
    try:
        read_origin_patterns(application.origins)
    except PatternError as error:
        return error
    return None


def _note_foreign(worker: Worker, what: str, out: EffectList) -> None:
    out.note("warn", f"{worker.client_id} wanted {what} of another worker")
