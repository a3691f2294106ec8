"""The conditions of a route on more than the URL: query, headers, JSON, forms, GraphQL."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import attrs
from msgspec import UNSET

from trafficmock.matching.patterns.js_regex_syntax import UnsupportedRegexError
from trafficmock.matching.patterns.regex import Regex, compile_regex
from trafficmock.matching.request_content import RequestContent, UnreadablePartError
from trafficmock.texts.wording import Valued, Wording, free_text, joined

Part = Literal["query", "header", "form", "json", "operation", "variables"]

_OF_HEAD = frozenset({"query", "header"})
_OF_GRAPHQL = frozenset({"operation", "variables"})
_LONGEST_SHOWN = 100
"""The most characters of a value in a message."""

_MOST_SHOWN = 5
"""The most values of one name in a message."""

ContentPlace = tuple[Part, tuple[str | int, ...]]
"""A part of a request, and the way to a value in it."""


@attrs.frozen
class DemandedValues:
    """The values that a request must have at some places."""

    places: tuple[ContentPlace, ...]
    values: tuple[str | float, ...]


@attrs.frozen(eq=False, kw_only=True)
class RequestCondition:
    """A condition on the values at one place; without a test, there must be a value.

    :param part: the part of the request.
    :param path: as for :meth:`.RequestContent.values`.
    :param equals: a value of JSON, or the text of a query, header or form; ``UNSET`` for any.
    :param source: source and flags of a JavaScript regular expression, which is searched in a text.
    :param regex: the same, compiled.
    :param length: the number of items, or of the values of a name.
    :param is_object: whether there must be an object.
    :param is_absent: whether there must be no value.
    :param is_impossible: whether nothing meets it: its regular expression is not for RE2.
    """

    part: Part
    path: tuple[str | int, ...]
    equals: Any = UNSET
    source: tuple[str, str] | None = None
    regex: Regex | None = None
    length: int | None = None
    is_object: bool = False
    is_absent: bool = False
    is_impossible: bool = False

    @property
    def shown(self) -> str:
        """What is wanted, for messages."""
        if self.is_absent:
            return "none"
        if self.length is not None:
            return f"{self.length} items"
        if self.source is not None:
            return f"/{self.source[0]}/{self.source[1]}"
        if self.is_object:
            return "an object"
        return "any value" if self.equals is UNSET else _shown(self.equals)

    @property
    def is_of_head(self) -> bool:
        """Whether the head of a request decides it."""
        return self.part in _OF_HEAD

    @property
    def literal(self) -> str | float | None:
        """The value, if only a request with it can meet the condition."""
        if isinstance(self.equals, bool) or not isinstance(self.equals, str | int | float):
            return None
        return self.equals

    @property
    def identity(self) -> tuple[Any, ...]:
        """What two conditions with the same meaning have in common."""
        test = (self.length, self.is_object, self.is_absent, self.regex is not None, self.shown)
        return (self.part, self.path, type(self.equals), self.equals, *test)

    def holds(self, content: RequestContent) -> bool:
        """Return whether a request meets the condition.

        :raises UnreadablePartError: a part of it cannot be compared.
        """
        values = content.values(self.part, self.path)
        if self.is_impossible:
            return False
        if self.is_absent:
            return not values
        if self.length is not None:
            return self._has_length(values)
        return any(self._is_met_by(value, content) for value in values)

    def _has_length(self, values: list[Any]) -> bool:
        if self.part in ("query", "form", "header"):
            return len(values) == self.length
        return any(isinstance(value, list) and len(value) == self.length for value in values)

    def _is_met_by(self, value: Any, content: RequestContent) -> bool:
        if self.equals is not UNSET:
            return value == self.equals and isinstance(value, bool) is isinstance(self.equals, bool)
        if self.regex is not None:
            return isinstance(value, str) and content.search(self.regex, value)
        return isinstance(value, dict) if self.is_object else True

    def difference(self, content: RequestContent) -> Wording | None:
        """Describe how a request fails the condition, ``None`` if it meets it.

        A value whose name says that it is a secret is never shown.
        """
        try:
            if self.holds(content):
                return None
            values = content.values(self.part, self.path)
        except UnreadablePartError as error:
            return Wording(f"{self.place}: {error}")
        if self.is_impossible:
            return Wording(f"{self.place}: the proxy cannot compare {self.shown}")
        wanted = f", wanted {self.shown}"
        if not values:
            hidden = wanted if self.equals is UNSET else ""
            is_missing = Valued(self.part, self.path, wanted, hidden)
            return Wording(f"{self.place} is missing", is_missing, self._other_type(content))
        found = joined(", ", (free_text(_shown(value)) for value in values[:_MOST_SHOWN]))
        more = f" and {len(values) - _MOST_SHOWN} more" if len(values) > _MOST_SHOWN else ""
        shown = Wording(" is ", found, more, wanted)
        return Wording(self.place, Valued(self.part, self.path, shown, " differs"))

    def _other_type(self, content: RequestContent) -> str:
        """Say of what type a body is that has no form."""
        found = content.values("header", ["content-type"]) if self.part == "form" else []
        media = str(found[0]).partition(";")[0].strip() if found else ""
        return f" (the body is {media})" if media and media.lower() != _FORM else ""

    @property
    def place(self) -> str:
        """The place in words, such as ``json.items[0].quantity``."""
        if self.part == "operation":
            return "the GraphQL operation"
        if self.part == "header":
            return f"header {self.path[0]}"
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return self.part + "".join(steps)


_FORM = "application/x-www-form-urlencoded"


@attrs.frozen(eq=False)
class RequestConditions:
    """All conditions of one route beside its URL; a request must meet each."""

    head: tuple[RequestCondition, ...]
    body: tuple[RequestCondition, ...] = attrs.field(repr=False)
    head_literals: DemandedValues
    body_literals: DemandedValues

    @classmethod
    def of(cls, conditions: Sequence[RequestCondition]) -> RequestConditions:
        """Sort conditions by what decides them."""
        head = tuple(each for each in conditions if each.is_of_head)
        body = tuple(each for each in conditions if not each.is_of_head)
        return cls(head, body, _literals(head), _literals(body))

    @property
    def head_identity(self) -> tuple[Any, ...]:
        """What the routes have in common that have the same conditions on the head."""
        return tuple(each.identity for each in self.head)

    def head_holds(self, content: RequestContent) -> bool:
        """Return whether a request meets those that its head decides."""
        return _hold(self.head, content)

    def body_holds(self, content: RequestContent) -> bool:
        """Return whether a request meets those that its body decides, which has come.

        A GraphQL batch meets them if one of its operations meets all.
        """
        return any(_hold(self.body, each) for each in self._alone(content))

    def hold(self, content: RequestContent) -> bool | None:
        """Return whether a request meets them; ``None`` if that depends on a body to come."""
        if not self.head_holds(content):
            return False
        if self.body and content.awaits_body:
            return None
        return self.body_holds(content)

    def differences(self, content: RequestContent) -> Iterator[Wording]:
        """Describe the conditions that a request fails.

        Of a GraphQL batch, only operations with the right name are compared, if it has any.
        """
        yield from _differences(self.head, content)
        if self.body and not content.awaits_body:
            names = tuple(each for each in self.body if each.part == "operation")
            alike = [each for each in self._alone(content) if _hold(names, each)] or [content]
            yield from min(([*_differences(self.body, each)] for each in alike), key=len)

    def _alone(self, content: RequestContent) -> Sequence[RequestContent]:
        is_graphql = any(each.part in _OF_GRAPHQL for each in self.body)
        return content.by_operation() if is_graphql else (content,)


def _differences(
    conditions: tuple[RequestCondition, ...], content: RequestContent
) -> Iterator[Wording]:
    for each in conditions:
        text = each.difference(content)
        if text is not None:
            yield text


def _hold(conditions: tuple[RequestCondition, ...], content: RequestContent) -> bool:
    try:
        return all(each.holds(content) for each in conditions)
    except UnreadablePartError:
        return False


def _literals(conditions: tuple[RequestCondition, ...]) -> DemandedValues:
    found = [each for each in conditions if each.literal is not None]
    places: tuple[ContentPlace, ...] = tuple((each.part, each.path) for each in found)
    return DemandedValues(places, tuple(each.literal for each in found if each.literal is not None))


def compile_condition(
    part: Part,
    path: Sequence[str | int],
    *,
    equals: Any = UNSET,
    regex: tuple[str, str] | None = None,
    length: int | None = None,
    is_object: bool = False,
    is_absent: bool = False,
) -> RequestCondition:
    """Compile a condition; the arguments are those of :class:`RequestCondition`.

    :param regex: source and flags of a JavaScript regular expression.
    """
    compiled, impossible = None, False
    if regex is not None:
        try:
            compiled = compile_regex(*regex)
        except UnsupportedRegexError:
            impossible = True
    lowered = tuple(
        step.lower() if part == "header" and isinstance(step, str) else step for step in path
    )
    return RequestCondition(
        part=part,
        path=lowered if lowered or part in ("json", "variables", "operation") else ("",),
        equals=equals,
        source=regex,
        regex=compiled,
        length=length,
        is_object=is_object,
        is_absent=is_absent,
        is_impossible=impossible,
    )


def _shown(value: Any) -> str:
    """Return the beginning of a value as JSON, without looking at the rest of it."""
    text = ""
    for part in _json(value):
        text += part
        if len(text) > _LONGEST_SHOWN:
            return f"{text[:_LONGEST_SHOWN]}…"
    return text


def _json(value: Any) -> Iterator[str]:
    """Yield the JSON of a value part by part; of a text that is too long only the beginning."""
    if isinstance(value, list):
        yield "["
        for index, item in enumerate(value):
            yield ", " if index else ""
            yield from _json(item)
        yield "]"
    elif isinstance(value, dict):
        yield "{"
        for index, (name, item) in enumerate(value.items()):
            yield ", " if index else ""
            yield from _json(name)
            yield ": "
            yield from _json(item)
        yield "}"
    else:
        cut = value[: _LONGEST_SHOWN + 1] if isinstance(value, str) else value
        yield json.dumps(cut, ensure_ascii=False)
