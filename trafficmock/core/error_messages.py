"""The texts of errors for users: they name the test and the route, and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import UNSET, UnsetType

from trafficmock.core.ownership.differences import Difference, Nearest
from trafficmock.core.ownership.strictness import Refusal
from trafficmock.core.state.peers import Agent
from trafficmock.core.state.registered import RegisteredRoute, RegisteredTest, RunRoute
from trafficmock.matching.host_pattern import PatternError
from trafficmock.matching.patterns.framework_calls import PREFIX, FrameworkCall
from trafficmock.texts.times import time_of_day
from trafficmock.texts.wording import Wording, free_text, joined, quoted, url_text
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher

CONTEXT_IN_USE = (
    "The context of this test is in use by another test, or the test is registered with another "
    "one. Each test needs a context of its own: 128 random bits."
)


STRICT_RUN_LOST = (
    "A strict run lost its worker: for 30 s, requests that no test owns are refused as before, so "
    "that the worker can come back."
)


def no_application(what: str) -> str:
    """Return the error for a strict test or run whose application the proxy never saw.

    :param what: the test or the run.
    """
    return (
        f"No application was connected to the proxy during {what}, and none sent a request through "
        "it: strict mode had nothing to refuse, and the application may have called real servers. "
        "Start it with `trafficmock run -- COMMAND`, or with the environment that the test "
        "library makes for this proxy."
    )


def unseen_context(test: RegisteredTest) -> str:
    """Return the error for a strict test that called an application, which is not attached."""
    return (
        f"This strict test sent requests to {test.called_origin}, but no attached application has "
        "got the test's context: what answers there is not attached, and may have called real "
        "servers. Start it with `trafficmock run -- COMMAND`, or with the "
        "environment that the test library makes for this proxy. If it is a server that sends no "
        "requests, such as one of static files, name the application's origins to the test."
    )


def unmatchable_origin(error: PatternError) -> str:
    """Return the error for an invalid origin of the application."""
    return (
        f"The origins of this test's application cannot be read: {error}. An origin has a scheme, "
        "a host and, unless it is the scheme's default, a port, such as http://shop.test:8000 or "
        "http://*.shop.test."
    )


def claim_timeout(subject: Wording, milliseconds: int, tests: Iterable[RegisteredTest]) -> Wording:
    """Return the error for tests that did not answer a claim in time."""
    silent = ", ".join(str(test) for test in tests)
    return Wording(
        f"No answer within {milliseconds} ms whether ",
        subject,
        f" is wanted by {silent}. "
        "The test's process is blocked, or a predicate of a route threw; "
        "--claim-timeout-ms allows more time.",
    )


def owner_silent(subject: Wording, milliseconds: int, test: RegisteredTest) -> Wording:
    """Return the error for an owner whose worker gave no sign of life."""
    return Wording(
        f"The worker of {test} gave no sign of life for {milliseconds} ms while it handled ",
        subject,
        ": its process is blocked or stopped. --claim-timeout-ms allows more time.",
    )


def owner_ended(subject: Wording, test: RegisteredTest) -> Wording:
    """Return the error for an owner that ended before it decided."""
    return Wording(
        f"The test {test} ended before its handler decided about ",
        subject,
        ". Await the traffic the test starts before it ends.",
    )


def owner_lost(subject: Wording, test: RegisteredTest) -> Wording:
    """Return the error for an owner whose worker disconnected."""
    return Wording(
        f"The worker of {test} disconnected before its handler decided about ", subject, "."
    )


def agent_lost(client_id: str) -> str:
    """Return the error for an application that disconnected."""
    return f"The application {client_id!r} disconnected before this was settled."


def left_unsettled(who: str, happened: str, count: int) -> str:
    """Return the log line for the requests and WebSockets that a peer or test left unsettled."""
    return f"disconnected: {who} {happened}; requests and WebSockets unsettled: {count}"


def socket_owner_lost(subject: Wording, test: RegisteredTest) -> Wording:
    """Return the error for a WebSocket whose owner's worker disconnected."""
    return Wording(f"The worker of {test} disconnected, so nobody handles ", subject, " any more.")


def stopping(subject: Wording) -> Wording:
    return Wording("The proxy was stopped while ", subject, " waited for a decision.")


def bad_mock(subject: Wording, problem: str) -> Wording:
    """Return the error for a handler's response that cannot be sent."""
    return Wording("The handler's response to ", subject, f" cannot be sent: {problem}.")


def bad_reply(problem: str) -> str:
    """Return the error for a route that cannot have its reply, or its HAR."""
    return f"The route was not registered, because the proxy cannot answer by it: {problem}."


def other_answer_of_run(
    parts: list[str], first: RunRoute, test: RegisteredTest, place: str | UnsetType
) -> str:
    """Return the error for a route of the run that a worker registers with another answer.

    :param parts: the names of the parts that differ.
    :param test: the test that registers it now, at ``place``.
    """
    said, says = (
        f"worker {test.worker_id}" + (f" at {where}" if where else "")
        for test, where in ((first.test, first.place), (test, place))
    )
    return (
        f"The route was not registered: {said} registered it for the whole run with another "
        f"answer, and so does {says} now. What differs: {', '.join(parts)}. A request of no test "
        "may belong to each worker, so all workers of a run give one answer: take what differs out "
        "of it, give the two routes different URLs, or register them for each worker alone."
    )


def no_room_for_reply(what: str, size: int, used: int, limit: int) -> str:
    """Return why a route's reply or HAR exceeds ``--reply-bytes``, and what to do."""
    return (
        f"{what} takes {size} bytes, and of the {limit} bytes that --reply-bytes allows for the "
        f"replies of all routes {used} are in use. Start the proxy with a larger --reply-bytes, "
        "unregister routes that are not needed any more, or limit a HAR by its url"
    )


def no_room_for_recording(limit: int) -> str:
    """Return why a recording exceeds ``--recording-bytes``, and what to do."""
    return (
        f"nothing was recorded, because all recordings together take more than the {limit} bytes "
        "that --recording-bytes allows. Start the proxy with a larger --recording-bytes, limit the "
        "recording by its url, or record in fewer tests at once"
    )


def har_failed(subject: Wording, problem: str) -> Wording:
    """Return the error for a request that the HAR of a route cannot answer."""
    return Wording(subject, " was not answered: ", problem, ".")


def of_route(text: str, test: RegisteredTest, route: RegisteredRoute | None) -> Wording:
    """Return an error with the sentence that says whose handler, mock or HAR it is about.

    :param route: its route; ``None`` where none has run.
    """
    if route is None:
        return Wording(text, f" The request belongs to the test {test}.")
    place = "" if route.place is None else f" ({route.place})"
    return Wording(text, f" The route is {_route(route.matcher)}{place} of the test {test}.")


MOST_DIFFERENCES_NAMED = 5
"""The most parts that a message names in which a request differs from a route, or an entry."""


def har_missing(
    name: str,
    number: int = 0,
    method: str = "",
    url: str = "",
    differences: Sequence[str] = (),
) -> str:
    """Return the text for a request that a HAR does not have.

    :param name: the file.
    :param number: the number of the nearest entry, whose method and URL follow; 0 without one.
    :param differences: in what the request differs from it.
    """
    if not number:
        return f"{name} has no such request"
    more = len(differences) - MOST_DIFFERENCES_NAMED
    named = [*differences[:MOST_DIFFERENCES_NAMED], *([f"{more} more"] * (more > 0))]
    entry = Wording(f"entry {number} ({method} ", url_text(url), ")")
    return Wording(f"{name} has no such request. Nearest: ", entry, ": ", joined("; ", named))


def har_redirect(name: str, number: int) -> str:
    """Return the text for a request whose redirects lead to no entry of the HAR."""
    what = f"its entry {number} is a redirect, and the end of it is not there"
    return f"{name} has no such request; {what}"


def har_used_up(name: str, numbers: Sequence[int]) -> str:
    """Return the text for a request whose entries have answered others, once each."""
    listed = ", ".join(map(str, numbers[:MOST_DIFFERENCES_NAMED]))
    more = len(numbers) - MOST_DIFFERENCES_NAMED
    what = f"entries {listed}" if len(numbers) > 1 else f"entry {listed}"
    rest = f" and {more} more" if more > 0 else ""
    used = f"its {what}{rest} answered earlier ones, and each answers once"
    return f"{name} has no further such request: {used}"


def bad_overrides(subject: Wording, problem: str) -> Wording:
    """Return the error for a handler's overrides that cannot be sent."""
    return Wording("The handler's changes to ", subject, f" cannot be sent: {problem}.")


def other_scheme(subject: Wording, url: str) -> Wording:
    """Return the error for a handler's URL that has another scheme than the request."""
    return Wording(
        "The handlers of ",
        subject,
        " fell back with the URL ",
        url_text(url, quoted=True),
        ", which must have the same protocol as that of the request.",
    )


def still_running(subject: Wording, test: RegisteredTest, place: str | None) -> Wording:
    """Return the error of a test that ended before a handler of it had decided.

    :param place: the file and line of the handler's route.
    """
    where = "" if place is None else f" ({place})"
    return Wording(
        f"The test {test} ended before the handler{where} decided about ",
        subject,
        ", so the request failed. Await the traffic that the test starts, or remove its routes "
        "before the end by unroute_all (unrouteAll) with the behavior ignoreErrors.",
    )


def unsent(subject: Wording, test: RegisteredTest, place: str | None) -> Wording:
    """Return the error of a test that ended before a delayed decision of it was sent.

    :param place: the file and line of the route.
    """
    where = "" if place is None else f" ({place})"
    return Wording(
        f"The test {test} ended before the delay of its route{where} for ",
        subject,
        " was over, so the request failed. Await the traffic that the test starts, or give a "
        "shorter delay.",
    )


def stream_open(
    subject: Wording, test: RegisteredTest, place: str | None, *, is_fixed: bool = False
) -> Wording:
    """Return the error of a test that ended before its streamed answer.

    :param place: the file and line of the stream's route.
    :param is_fixed: whether the pieces are those of a mock, which the test does not write.
    """
    where = "" if place is None else f" ({place})"
    what_to_do = "End it in the test by end(), or by abort()."
    if is_fixed:
        what_to_do = "Let the test wait until the application has the answer."
    return Wording(
        f"The test {test} ended while its streamed answer{where} to ",
        subject,
        f" was open, so the answer was broken off. {what_to_do}",
    )


def broken_stream(subject: Wording, problem: str, place: str | None) -> Wording:
    """Return the error for a streamed answer that breaks a rule.

    :param place: the file and line of the stream's route.
    """
    where = "" if place is None else f" ({place})"
    return Wording(f"The streamed answer{where} to ", subject, f" was broken off: {problem}.")


def too_big_for_handler(subject: Wording, size: int, limit: int) -> Wording:
    """Return the error for a body above ``--handler-body-bytes``."""
    return Wording(
        "The body of ",
        subject,
        f" has {size} bytes, more than the {limit} bytes that are handed "
        "to a test; --handler-body-bytes allows more.",
    )


def body_cut(subject: Wording, size: int) -> Wording:
    """Return the error for a body that the agent sent truncated."""
    return Wording(
        "The body of ",
        subject,
        f" is too long to be handed to a test in one message; {size} bytes of it came.",
    )


def body_overdue(subject: Wording, milliseconds: int, length: str | None) -> Wording:
    """Return the error for a body that did not arrive within ``--body-timeout-ms``.

    :param length: the ``content-length`` of the request, if it has one.
    """
    size = "its length is not announced" if length is None else f"{length} bytes are announced"
    return Wording(
        "The body of ",
        subject,
        f" did not come whole within {milliseconds} ms ({size}): the "
        "application has not finished writing it. --body-timeout-ms allows more time.",
    )


MOST_ALLOWED_NAMED = 5
"""The most patterns of an allow list that a message names."""


def unmatched(
    subject: Wording,
    refusal: Refusal,
    nearest: Nearest | None,
    *,
    ended: str,
    is_tunnel: bool,
) -> Wording:
    """Return the error for a request that strict mode refused, with the remedy.

    :param subject: the method and URL of the request, without credentials.
    :param nearest: the most similar route.
    :param ended: the title of the ended test whose context the request carries; empty for none.
    :param is_tunnel: whether it is a tunnel that is not decrypted, which no route can match.
    """
    what = "is a tunnel that is not read" if is_tunnel else "is not mocked"
    sentences: list[str] = [
        Wording(subject.capitalized(), f" {what}, and {_allowed(refusal.allow)}.")
    ]
    if ended:
        sentences.append(f'It was made for the test "{ended}", which has ended.')
    elif refusal.test is None:
        sentences.append("It carries the context of no test.")
    if nearest is not None:
        sentences.append(Wording("Nearest: ", _nearest(nearest, named=refusal.test is None), "."))
    if refusal.lost_until is not None:
        return joined(" ", [*sentences, _lost_run(refusal.lost_until)])
    remedies = [] if is_tunnel else ["add a route"]
    if refusal.parts is not None:
        remedies.append(f"allow {refusal.parts.authority}")
    remedy = ", or ".join(remedies)
    return joined(" ", [*sentences, f"{remedy[:1].upper()}{remedy[1:]}."])


def went_past(subject: Wording, refusal: Refusal) -> Wording:
    """Return the error for a request that left past the proxy, with the remedy.

    :param subject: as in :func:`unmatched`.
    """
    allow = "" if refusal.parts is None else f", or allow {refusal.parts.authority}"
    return Wording(
        subject.capitalized(),
        f" went past the proxy to the real server, because "
        "TRAFFICMOCK_IGNORE_HOSTS or --no-proxy names its host, and "
        f"{_allowed(refusal.allow)}. Take the host out of that list{allow}.",
    )


def of_framework(
    subject: Wording, refusal: Refusal, framework: FrameworkCall, *, has_left: bool
) -> Wording:
    """Return the error for what a framework sends for itself, with the remedy.

    :param subject: as in :func:`unmatched`.
    :param has_left: whether it went past the proxy.
    """
    what_came = "it went past the proxy" if has_left else "it was refused"
    off = f", or have {framework.sender} not send it ({framework.off})" if framework.off else ""
    return Wording(
        subject.capitalized(),
        f" is what {framework.sender} sends for itself, "
        f"{framework.what}, and {_allowed(refusal.allow)}: {what_came}. It belongs to no test, and "
        f"fails none. To let it leave, allow {PREFIX}{framework.preset}{off}.",
    )


LONGEST_COMMAND = 80
"""The most characters of a command line in a message."""

_DIRECTORY = re.compile(r"(?<!\S)(?:[A-Za-z]:[\\/]|/)(?:[^\s\\/]+[\\/])*")
"""The directory of an absolute path in a command line."""


def sender(agent: Agent) -> Wording:
    """Return who sent a request: its client and, where it is known, its process."""
    named = f"client {agent.client_id}"
    if agent.pid is None:
        return Wording(named)
    # A directory says little, and what is at the end says most.
    command = _DIRECTORY.sub("", agent.command or "")
    shown = (" (", free_text(command, LONGEST_COMMAND), ")") if command else ()
    return Wording(f"{named}, process {agent.pid}", *shown)


def sent_by(agent: Agent) -> Wording:
    """Return the sentence that says who sent a request."""
    return Wording("It was sent by ", sender(agent), ".")


def _lost_run(until: int) -> str:
    """Explain strict mode without a connected strict run: the reason, the end and the remedy.

    :param until: epoch ms.
    """
    return (
        "No strict run is connected: the last one ended just now, or without closing its "
        "connection (Playwright's workers end so, and processes that are killed). Strict mode "
        f"lasts until {time_of_day(until)} UTC, for late requests and so that a worker may come "
        "back. Wait until then, or start the service anew."
    )


def _allowed(patterns: tuple[str, ...]) -> str:
    if not patterns:
        return "strict mode allows nothing"
    named = ", ".join(patterns[:MOST_ALLOWED_NAMED])
    rest = len(patterns) - MOST_ALLOWED_NAMED
    return f"strict mode allows only {named}" + (f" and {rest} more" if rest > 0 else "")


def allowed_matcher(matcher: SerializedMatcher) -> str:
    """Return what a matcher of an allow list is shown as."""
    return _route(matcher) + (" with conditions" if matcher.conditions else "")


def _nearest(nearest: Nearest, *, named: bool) -> Wording:
    route = nearest.route
    place = "" if route.place is None else f" ({route.place})"
    test = f' of "{route.test.title}"' if named and route.test is not None else ""
    differs = [difference(each) for each in nearest.all_differs[:MOST_DIFFERENCES_NAMED]]
    return Wording(f"route {_route(route.matcher)}{place}{test}: ", joined("; ", differs))


_WHOLE = {
    "predicate": "its predicate said no",
    "handler": "its handler gave the request back",
    "url": "the pattern does not match",
}
"""What differs, where no value is named."""


def difference(differs: Difference) -> str:
    """Return in words how a request differs from a route, a wait, or an entry of a HAR."""
    part, found, wanted = differs.part, differs.found, differs.wanted
    if text := _WHOLE.get(part):
        return text
    shown = "" if found is UNSET else quoted(found)
    match part:
        case "condition":
            return "" if found is UNSET else found
        case "origin":
            return f"the tests' own process sent it: only a URL that names {found} takes it"
        case "query" if wanted == "":
            return Wording("query differs (", shown, ": a glob is for the whole URL, queries too)")
    return Wording(f"{part} differs (", shown, ")" if wanted is UNSET else f", not {wanted!r})")


def _route(matcher: SerializedMatcher) -> str:
    """Return the methods and the URL pattern of a route."""
    parts = ["|".join(matcher.methods)] if matcher.methods else []
    if isinstance(matcher.url_glob, str):
        parts.append(f'"{matcher.url_glob}"')
    if matcher.url_regex:
        parts.append(f"/{matcher.url_regex.source}/{matcher.url_regex.flags}")
    if not matcher.url_glob and not matcher.url_regex:
        parts.append("with a predicate" if matcher.predicate else "for any URL")
    return " ".join(parts)


def body_not_due(request_id: str) -> str:
    """Return the error for a body that the coordinator did not request."""
    return (
        f"No body of the request {request_id} is due from this connection: it was not asked "
        "for, has come already, or the request is settled."
    )
