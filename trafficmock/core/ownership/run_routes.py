"""The routes of a whole run: each worker registers them, and they are one route.

A fixture runs in every worker of a run (pytest-xdist, Playwright), so every worker registers its
routes. The first registration counts. The later ones are *copies* of it: they must have the same
answer, share its ``times`` and the position in its sequence, and take its place when its worker
ends. All workers that are connected to one proxy are one run, because a request of no test may
belong to each of them.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import count
from typing import Any

import msgspec
from attrs import define, field
from msgspec import UNSET, structs

from trafficmock.core.answers.kept_answers import KeptAnswers
from trafficmock.core.state.registered import RegisteredRoute, RegisteredTest, RunKey, RunRoute
from trafficmock.wire.http_syntax import lines_of
from trafficmock.wire.inbound import RouteRegister
from trafficmock.wire.payloads.answer import Fulfill


class RunRouteError(ValueError):
    """A worker registers another answer for a route of the run.

    :param first: the route as it was registered first.
    :param different: the names of the parts of the answer that differ.
    """

    def __init__(self, first: RunRoute, different: list[str]) -> None:
        super().__init__(", ".join(different))
        self.first = first
        self.different = different


@define
class RunRoutes:
    """The routes of the run, until its last test with such routes ends.

    :ivar tests: the ids of the tests with routes of the run, one for each worker.
    """

    tests: dict[str, RegisteredTest] = field(factory=dict)
    _known: dict[RunKey, RunRoute] = field(factory=dict)
    _orders: count[int] = field(factory=count)

    def join(
        self,
        test: RegisteredTest,
        message: RouteRegister,
        answers: KeptAnswers | None,
        times: int | None,
    ) -> RunRoute:
        """Return the route of the run that a worker registers, a new one if it is the first.

        :raises RunRouteError: another worker registered it with another answer.
        """
        alike = message.kind, msgspec.json.encode(message.matcher)
        numbers = (number for number in count() if (*alike, number) not in test.of_run)
        key = (*alike, next(numbers))
        place = message.place if isinstance(message.place, str) else None
        parts = _parts(message, answers)
        known = self._known.get(key)
        if known is None:
            known = RunRoute(key, next(self._orders), test, place, parts, answers, times)
            self._known[key] = known
        elif different := [
            name for name in known.parts | parts if known.parts.get(name) != parts.get(name)
        ]:
            raise RunRouteError(known, different)
        test.of_run[key] = known
        return known

    def leave(self, route: RegisteredRoute, run: RunRoute) -> None:
        """Remove a copy; the route of the run is forgotten with its last one, unless used up."""
        run.copies.pop(route.id, None)
        if run.is_used_up or route.test is None:
            return
        del route.test.of_run[run.key]
        if not run.copies:
            del self._known[run.key]

    def end_test(self, test: RegisteredTest) -> None:
        """Handle the end of a test; with the last one the run is over."""
        if self.tests.pop(test.id, None) is not None and not self.tests:
            self._known.clear()


def _parts(message: RouteRegister, answers: KeptAnswers | None) -> dict[str, bytes]:
    """Return a digest of each part of the answer of a route; functions count by their place."""
    parts: dict[str, Any] = {"times": message.times}
    if answers is not None and answers.given:
        first, *others = answers.given
        if others or not isinstance(first, Fulfill):
            parts["sequence"] = answers.given
        else:
            response = first.response
            parts["status"] = response.status, response.status_text
            parts["headers"] = lines_of(response.headers, response.headers_list)
            parts["body"] = response.body_base64
            how = structs.asdict(structs.replace(first, response=UNSET))
            parts |= {name.removesuffix("_ms"): value for name, value in how.items()}
    elif message.har is not UNSET:
        parts["HAR"] = message.har
    elif message.record is not UNSET:
        parts["recording"] = message.record
    else:
        parts["handler"] = message.place
    encode = msgspec.json.encode
    return {
        name: sha256(encode(part)).digest() for name, part in parts.items() if part is not UNSET
    }
