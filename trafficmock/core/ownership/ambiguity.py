"""The error text of an ambiguous request: the matching tests, and the remedies, likeliest first.

The application's error, the reports of tests and the dashboard show this text unchanged.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from trafficmock.core.ownership.claims import Claimant
from trafficmock.core.state.peers import Agent
from trafficmock.core.state.registered import RegisteredRoute, RegisteredTest
from trafficmock.records import CarriedContext, LostContext
from trafficmock.texts.message_text import printable
from trafficmock.texts.wording import Wording, joined
from trafficmock.wire.features import CONTEXT
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic, SerializedMatcher

MOST_NAMED = 5
"""The most tests that the advice names, and the most routes of one test."""

MOST_RIVALS = 10
"""The most tests whose routes are listed: each of them gets the whole text."""

MOST_DIAGNOSTICS = 100
"""The most matching routes in one message, as data."""

_LONGEST = 300
"""The most characters of a test, and of a route."""


def ambiguity_text(
    subject: Wording, agent: Agent, claimants: list[Claimant], lost: LostContext | None = None
) -> Wording:
    """Return the error text: what, a line for each test, and what to do.

    Users' tests compare its first words.

    :param agent: the agent of the request.
    :param lost: where it lost the context of its test, if that is known.
    """
    return Wording(
        f"Ambiguous backend mock routing: {len(claimants)} tests match ",
        subject,
        f":{_rivals(claimants)}\n",
        _advice(agent, [test for test, _ in claimants], lost),
    )


def _rivals(claimants: list[Claimant]) -> str:
    lines = [
        f"\n  {_cut(str(test))} by {_count(len(routes), 'route')} {_routes(routes)}"
        for test, routes in claimants[:MOST_RIVALS]
    ]
    if len(claimants) > MOST_RIVALS:
        lines.append(f"\n  and {len(claimants) - MOST_RIVALS} more")
    return "".join(lines)


def diagnostics(claimants: list[Claimant]) -> list[RouteMatchDiagnostic]:
    """Return the matching routes as data, the first ones."""
    every = (route.diagnostic(test) for test, routes in claimants for route in routes)
    return list(islice(every, MOST_DIAGNOSTICS))


def late_text(subject: Wording, carried: CarriedContext, claimants: list[Claimant]) -> Wording:
    """Return the error text of a late request that routes of running tests match.

    :param carried: the ended test whose context the request carries.
    """
    return Wording(
        "Ambiguous backend mock routing: ",
        subject,
        " was made for the test "
        f'"{_cut(carried.title)}", which has ended, and routes of running tests match it:'
        f"{_rivals(claimants)}\n"
        "It was not sent to the real network. What lives longer than the request that began it, "
        "such as a job loop, a consumer or a timer, keeps the context of that request: start it "
        "with the application, or let the test wait for its requests.",
    )


def _advice(agent: Agent, tests: list[RegisteredTest], lost: LostContext | None) -> Wording:
    """Return the remedies.

    A request with the context of a running test is never ambiguous, so this one has none.
    If the tests have contexts, the missing context is the reason. Tests without contexts differ
    only by client ids and URLs.
    """
    sentences: list[str] = []
    if any(test.context is not None for test in tests) and CONTEXT not in agent.features:
        sentences.append(
            f'The agent of "{agent.client_id}" passes on no contexts; use trafficmock\'s.'
        )
    elif any(test.context is not None for test in tests):
        sentences.append(
            "The request carries the context of no test. Put trafficmock.headers or "
            "trafficmock.cookie on the requests of the test, and let its browser use "
            "trafficmock.proxy; if they have that, the application lost the context before this "
            "request."
            if lost is None
            else Wording("The request carries the context of no test. ", lost.text)
        )
    without = [test for test in tests if test.context is None]
    if off := [test for test in without if CONTEXT in test.worker.features]:
        sentences.append(
            f"Isolation is off for {_names(off, tests)}: turn it on, so that requests may carry "
            "the context of their test."
        )
    if unaware := [test for test in without if CONTEXT not in test.worker.features]:
        sentences.append(f"The fixture of {_names(unaware, tests)} knows no contexts.")
    if len(unaware) < len(tests):
        sentences.append("Where that is not possible, give")
    else:
        sentences.append("Give")
    return Wording(
        joined(" ", sentences),
        " each test's application its own client id and route with it, narrow the URLs, or do not "
        "run these tests at the same time.",
    )


def _names(some: list[RegisteredTest], tests: Collection[RegisteredTest]) -> str:
    if len(some) == len(tests):
        return "these tests"
    titles = [test.title for test in tests]
    named = ", ".join(
        f'"{_cut(test.title)}"' + (f" in {test.file}" if titles.count(test.title) > 1 else "")
        for test in some[:MOST_NAMED]
    )
    rest = len(some) - MOST_NAMED
    return f"{named} and {rest} more" if rest > 0 else named


def _routes(routes: list[RegisteredRoute]) -> str:
    named = ", ".join(
        _cut(_matcher(route.matcher)) + (f" ({route.place})" if route.place else "")
        for route in routes[:MOST_NAMED]
    )
    rest = len(routes) - MOST_NAMED
    return f"{named} and {rest} more" if rest > 0 else named


def _matcher(matcher: SerializedMatcher) -> str:
    parts = []
    if matcher.predicate:
        parts.append("a predicate")
    if matcher.url_regex:
        parts.append(f"/{matcher.url_regex.source}/{matcher.url_regex.flags}")
    if isinstance(matcher.url_glob, str):
        parts.append(repr(matcher.url_glob))
    if matcher.methods:
        parts.append("|".join(matcher.methods))
    if matcher.client_ids:
        parts.append("client " + "|".join(matcher.client_ids))
    return " ".join(parts) or "any URL"


def _cut(text: str) -> str:
    """Return the beginning of a text of another worker, which terminals show, as one line."""
    shown = printable(text[: _LONGEST + 1])
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def _count(number: int, noun: str) -> str:
    return noun if number == 1 else f"{number} {noun}s"
