"""Says why the HAR of a route has no answer to a request: the nearest entry, and what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from msgspec import UNSET, structs

from trafficmock.core import error_messages
from trafficmock.core.har.har_lookup import HarLookup
from trafficmock.core.har.match_rules import HarQuestion, MatchRules
from trafficmock.core.ownership.differences import (
    MOST_COMPARED,
    MOST_DIFFERENCES,
    ComparedMatcher,
    ComparedRequest,
    Difference,
    Rank,
)
from trafficmock.matching import MatchBudget, PatternCache
from trafficmock.matching.request_content import RequestContent, UnreadablePartError
from trafficmock.matching.url_parts import url_parts
from trafficmock.texts.marked_texts import MARK, has_marks
from trafficmock.texts.wording import free_text, url_text
from trafficmock.wire.payloads.serialized_matcher import (
    MOST_STEPS,
    ConditionPart,
    SerializedCondition,
    SerializedMatcher,
)

_GLOB_SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "\\*?{}[]"})


def missing_entry(lookup: HarLookup, question: HarQuestion, patterns: PatternCache) -> str:
    """Return the text for a request that a HAR does not have.

    :raises HarEntryError: an entry for the request has not the form of a HAR.
    """
    name = lookup.name
    if used := lookup.used_up(question):
        return error_messages.har_used_up(name, used)
    if best := lookup.best(question):
        return error_messages.har_redirect(name, best[0])
    rules, best_rank = lookup.rules, None
    nearest: tuple[int, HarQuestion, list[Difference]] | None = None
    request = _compared(rules, question)
    budget = MatchBudget(patterns)
    for number, recorded in lookup.neighbours(question, MOST_COMPARED):
        matcher = ComparedMatcher(_matcher_of(rules, recorded, question))
        found = [
            each for each in matcher.differences(request, budget) if _counts(each.part, rules)
        ] or [_otherwise(rules, recorded, question)]
        rank: Rank = matcher.rank(request, found)
        if best_rank is None or rank < best_rank:
            best_rank, nearest = rank, (number, recorded, found)
    if nearest is None:
        return error_messages.har_missing(name)
    number, recorded, found = nearest
    # The nearest entry is named, so what it has there is not.
    unlike = [structs.replace(each, wanted=UNSET) for each in found]
    texts = [free_text(error_messages.difference(each)) for each in unlike]
    return error_messages.har_missing(name, number, recorded.method, recorded.url, texts)


def _compared(rules: MatchRules, question: HarQuestion) -> ComparedRequest:
    # The fields of the query are compared one by one.
    url = rules.compared_url(question.url).partition("#")[0].partition("?")[0]
    return ComparedRequest(question.method, url, "", url_parts(url), question.read())


def _counts(part: str, rules: MatchRules) -> bool:
    """Return whether a difference is one by the rules: a matcher compares all of a URL."""
    return part in rules.parts or part == "condition" or (part != "method" and "url" in rules.parts)


def _otherwise(rules: MatchRules, recorded: HarQuestion, question: HarQuestion) -> Difference:
    """Return the difference of requests that no condition can name: spaces in JSON, or bytes."""
    if rules.key(recorded.method, recorded.url) != rules.key(question.method, question.url):
        parts = url_parts(question.url)
        return Difference("query", url_text(parts.query if parts else question.url))
    text = (
        f"the body has {len(question.content)} bytes, wanted {len(recorded.content)}; they differ "
        f"from byte {_common(recorded.content, question.content)}"
    )
    return Difference("condition", text)


def _matcher_of(rules: MatchRules, recorded: HarQuestion, asked: HarQuestion) -> SerializedMatcher:
    """Return the matcher of the requests that an entry answers, as far as matchers can say it.

    :param asked: what only it has is demanded not to be there.
    """
    base = recorded.url.partition("#")[0].partition("?")[0]
    return SerializedMatcher(
        url_glob="*".join(each.translate(_GLOB_SIGNS) for each in MARK.split(base)[::3]),
        methods=[recorded.method],
        conditions=[*islice(_conditions(rules, recorded, asked), MOST_DIFFERENCES)],
    )


def _conditions(
    rules: MatchRules, recorded: HarQuestion, asked: HarQuestion
) -> Iterator[SerializedCondition]:
    kept, found = recorded.read(), asked.read()
    if {"url", "query"} & set(rules.parts):
        yield from _of_fields(rules, "query", kept, found)
    if rules.leaves_body(asked):
        return
    for part in rules.parts_beside:
        if part.startswith("header"):
            headers = rules.compared_headers(part, kept), rules.compared_headers(part, found)
            yield from _of_values("header", *headers)
        elif rules.reading(part, recorded) == "form":
            yield from _of_fields(rules, "form", kept, found)
        elif part in ("json", "body"):
            yield from _of_json(rules, kept, found)


def _of_fields(
    rules: MatchRules, part: ConditionPart, kept: RequestContent, found: RequestContent
) -> Iterator[SerializedCondition]:
    try:
        fields = rules.compared_fields(part, kept), rules.compared_fields(part, found)
    except UnreadablePartError:
        return
    yield from _of_values(part, *fields)


def _of_values(
    part: ConditionPart, kept: Mapping[str, list[str]], found: Mapping[str, list[str]]
) -> Iterator[SerializedCondition]:
    for name, values in kept.items():
        there = found.get(name, [])
        yield from (_equal(part, [name], value) for value in values if value not in there)
        if there and len(values) != len(there):
            yield SerializedCondition(part, [name], length=len(values))
    yield from (
        SerializedCondition(part, [name], is_absent=True) for name in found if name not in kept
    )


def _of_json(
    rules: MatchRules, kept: RequestContent, found: RequestContent
) -> Iterator[SerializedCondition]:
    try:
        (wanted,), (there,) = kept.values("json", ()), found.values("json", ())
        yield from _of_member([], rules.without_ignored(wanted), rules.without_ignored(there))
    except (UnreadablePartError, RecursionError):
        return


def _of_member(path: list[str | int], wanted: Any, there: Any) -> Iterator[SerializedCondition]:
    """Yield the conditions of a JSON value and of its members that a request may fail.

    :param there: what the request has at this place; what is only there has to be absent.
    """
    if len(path) >= MOST_STEPS or not isinstance(wanted, dict | list):
        # A truth value is no number in JSON.
        if wanted != there or isinstance(wanted, bool) is not isinstance(there, bool):
            yield _equal("json", path, wanted)
        return
    if isinstance(wanted, dict) and isinstance(there, dict):
        yield from (
            SerializedCondition("json", [*path, name], is_absent=True)
            for name in there
            if name not in wanted
        )
        for name, inner in wanted.items():
            yield from _of_member([*path, name], inner, there.get(name))
    elif isinstance(wanted, list) and isinstance(there, list):
        if len(wanted) != len(there):
            yield SerializedCondition("json", path, length=len(wanted))
        for index, (inner, other) in enumerate(zip(wanted, there, strict=False)):
            yield from _of_member([*path, index], inner, other)
    elif isinstance(wanted, dict):
        yield SerializedCondition("json", path, is_object=True)
    else:
        yield SerializedCondition("json", path, length=len(wanted))


def _equal(part: ConditionPart, path: list[str | int], value: Any) -> SerializedCondition:
    """Return the condition for a value; for one with a mark, there must be any."""
    if isinstance(value, dict | list) or (isinstance(value, str) and has_marks(value)):
        return SerializedCondition(part, path)
    return SerializedCondition(part, path, equals=value)


def _common(one: bytes, other: bytes) -> int:
    """Return the number of bytes at the beginning that are equal."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
