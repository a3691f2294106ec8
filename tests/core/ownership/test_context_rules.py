"""Every combination of tests, shared routes and contexts, against the rules as a table."""

from typing import Any

from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import claims, glob, predicate, start
from tests.support.hypothesis_profiles import profile
from tests.support.playbook import Playbook
from trafficmock.core.effects import Send
from trafficmock.wire import inbound, outbound

FEATURES = ("context", "subscribe")
ROUTES = {
    "yes": glob("http://h.test/**"),
    "no": glob("http://other.test/"),
    "asked, yes": predicate(),
    "asked, no": predicate(),
}


REFUSED = -1
"""Marks a request that is refused although perhaps only one test wants it."""


@frozen
class Wanted:
    """A test with one route, and what its route says about the request."""

    worker: str
    shared: bool
    route: str
    ended: bool

    @property
    def wants(self) -> bool:
        return not self.ended and self.route.endswith("yes")


WORKERS = st.sampled_from("01")
WANTED = st.builds(Wanted, WORKERS, st.booleans(), st.sampled_from(list(ROUTES)), st.booleans())


def expected(tests: list[Wanted], carried: int | None) -> set[int]:
    """Say which tests claim a request, by the rules: none, one, or those that are ambiguous.

    :param carried: the test whose context it carries.
    """
    wanting = {number for number, test in enumerate(tests) if test.wants}
    if carried is not None:
        test = tests[carried]
        if test.ended:
            running = [n for n, each in enumerate(tests) if not each.ended and not each.shared]
            if len(running) != 1:
                # Refused, and so named, also if only one test wants it.
                return {REFUSED, *_outranking(tests, wanting)} if wanting else set()
            carried, test = running[0], tests[running[0]]
        if carried in wanting:
            return {carried}
        wanting = {n for n in wanting if tests[n].shared and tests[n].worker == test.worker}
    return _outranking(tests, wanting)


def _outranking(tests: list[Wanted], wanting: set[int]) -> set[int]:
    """Leave out the shared routes of a worker that another test of it outranks."""
    found = {number for number in wanting if not tests[number].shared}
    served = {tests[number].worker for number in found}
    for worker in {tests[number].worker for number in wanting} - served:
        found.add(max(number for number in wanting if tests[number].worker == worker))
    # Shared routes of several workers do not contradict: none has a fixed answer.
    return found if len(found) < 2 or served else {min(found)}


class RulesTests(SynchronousTestCase):
    """Who gets a request."""

    @profile(150)
    @given(st.lists(WANTED, min_size=1, max_size=5), st.data())
    def test_owner(self, tests: list[Wanted], data: st.DataObject) -> None:
        """The owner is the one that the rules name."""
        carried = data.draw(st.none() | st.integers(0, len(tests) - 1))
        playbook = Playbook(self)
        agent = playbook.agent(features=["context"])
        workers = {name: playbook.worker(name, features=FEATURES) for name in "01"}
        for number, test in enumerate(tests):
            worker, test_id = workers[test.worker], f"t{number}"
            scope: Any = "worker" if test.shared else UNSET
            worker.sends(
                inbound.TestRegister(test_id, "t", "f", test.worker, f"{number:032x}", scope)
            )
            playbook.take()
            worker.sends(inbound.RouteRegister(f"q{number}", test_id, ROUTES[test.route]))
            playbook.take()
        for number, test in enumerate(tests):
            if test.ended:
                workers[test.worker].sends(inbound.TestUnregister(f"t{number}"))
                playbook.take()
        context = UNSET if carried is None else f"{carried:032x}"
        agent.sends(structs.replace(start(), context=context))
        said = [each.message for each in playbook.take() if isinstance(each, Send)]
        for number, test in enumerate(tests):
            # A test with a certain match is asked too where its connection is asked anyway.
            matches = [f"q{number}"] if test.wants else []
            workers[test.worker].sends(claims("r1", f"t{number}", *matches))
            said += [each.message for each in playbook.take() if isinstance(each, Send)]
        self.assertEqual(outcome(said), expected(tests, carried))


def outcome(said: list[inbound.Message]) -> set[int]:
    """Read who got the request; exactly one decision must have been made."""
    found = [
        message
        for message in said
        if isinstance(
            message, outbound.DecisionPassthrough | outbound.RequestMatched | outbound.DecisionError
        )
    ]
    (decision,) = found
    if isinstance(decision, outbound.RequestMatched):
        return {int(decision.test_id[1:])}
    if isinstance(decision, outbound.DecisionError):
        late = {REFUSED} if "which has ended" in decision.message else set()
        return {int(match.test_id[1:]) for match in decision.matches or ()} | late
    return set()
