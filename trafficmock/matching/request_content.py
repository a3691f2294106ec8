"""The parts of one request that conditions look at, each read once for all conditions."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

from trafficmock.matching.patterns.match_cost import JudgedUrl, MatchBudget
from trafficmock.matching.patterns.match_result import MatchResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trafficmock.matching.patterns.regex import Regex

MOST_BYTES = 8 * 2**20
"""The largest body that is compared; a larger one meets no condition on bodies."""

_OPERATION = re.compile(r"(?:^|[\s}])(?:query|mutation|subscription)\s+([A-Za-z_]\w*)")
"""The name of the first operation of a GraphQL document."""

Fields = dict[str, list[str]]


class UnreadableBodyError(ValueError):
    """The body is not what a condition reads; the message is why."""


class RequestContent:
    """A request, as far as conditions look at it.

    :param url: the whole URL.
    :param lines: the header lines.
    :param body: returns the body; ``None`` if it has not come yet.
    :param lacks: why there is no whole body, if there never will be one.
    :param budget: bounds the steps of regular expressions.
    """

    def __init__(
        self,
        url: str,
        lines: Iterable[tuple[str, str]],
        body: Callable[[], bytes] | None,
        *,
        lacks: str = "",
        budget: MatchBudget | None = None,
    ) -> None:
        self.url = url
        self._lines = lines
        self._body = body
        self._lacks = lacks
        self._budget = budget or MatchBudget()

    @property
    def awaits_body(self) -> bool:
        """Whether the body is still to come."""
        return self._body is None and not self._lacks

    def values(self, part: str, path: Sequence[str | int]) -> list[Any]:
        """Return the values at a place; several only for a name that repeats.

        :param part: ``query``, ``header``, ``form``, ``json``, ``operation`` or ``variables``.
        :param path: the names and indexes that lead there; for ``query``, ``header`` and ``form``
            the name, and the index of one of its values.
        :raises UnreadableBodyError: the body is not what the part needs.
        """
        match part:
            case "json":
                return _at(self._json, path)
            case "operation":
                return [] if self._operation is None else [self._operation]
            case "variables":
                return _at(self._graphql.get("variables"), path)
            case "query" | "form" | "header":
                named = self._named(part).get(str(path[0]), [])
                return named if len(path) == 1 else [*named[_index(path[1])]]
        return []

    def search(self, regex: Regex, text: str) -> bool:
        """Search a text for a regular expression; not found if that takes too many steps."""
        return self._budget.search(regex.pattern, JudgedUrl(text)) is MatchResult.YES

    def _named(self, part: str) -> Fields:
        if part == "form":
            return self._form
        return self._query if part == "query" else self._headers

    @cached_property
    def _query(self) -> Fields:
        query = self.url.partition("#")[0].partition("?")[2]
        return _by_name(parse_qsl(query, keep_blank_values=True))

    @cached_property
    def _headers(self) -> Fields:
        by_name = _by_name((name.lower(), value) for name, value in self._lines)
        return {name: [", ".join(values)] for name, values in by_name.items()}

    @cached_property
    def _content(self) -> bytes:
        if self._body is None:
            raise UnreadableBodyError(self._lacks)
        content = self._body()
        if len(content) > MOST_BYTES:
            raise UnreadableBodyError(f"the body has {len(content)} bytes, more than {MOST_BYTES}")
        coding = self._headers.get("content-encoding")
        if coding:
            raise UnreadableBodyError(f"the body has the content-encoding {coding[0]}")
        return content

    @cached_property
    def _json(self) -> Any:
        content = self._content
        if not content:
            raise UnreadableBodyError("there is no body")
        try:
            return msgspec.json.decode(content)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise UnreadableBodyError("the body is no JSON") from None

    @cached_property
    def _form(self) -> Fields:
        return _by_name(parse_qsl(self._content.decode("utf-8", "replace"), keep_blank_values=True))

    @cached_property
    def _graphql(self) -> dict[str, Any]:
        """The members of a GraphQL request: of the body, or by ``GET`` of the query string."""
        asked = {name: values[0] for name, values in self._query.items()}
        if "query" in asked and (self._body is None or not self._content):
            try:
                return asked | {"variables": msgspec.json.decode(asked.get("variables", "null"))}
            except msgspec.MsgspecError:
                return asked
        if not isinstance(self._json, dict):
            raise UnreadableBodyError("the body is no GraphQL request")
        return self._json

    @cached_property
    def _operation(self) -> str | None:
        named = self._graphql.get("operationName")
        if isinstance(named, str) and named:
            return named
        found = _OPERATION.search(str(self._graphql.get("query") or ""))
        return found[1] if found else None


def _by_name(pairs: Iterable[tuple[str, str]]) -> Fields:
    fields: Fields = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return fields


def _index(value: str | int) -> slice:
    """Return the slice with the value at an index, empty if there is none."""
    return slice(value, value + 1) if isinstance(value, int) and value >= 0 else slice(0, 0)


def _at(value: Any, path: Sequence[str | int]) -> list[Any]:
    """Return the value at a place of a JSON document, in a list; an empty one if there is none."""
    for step in path:
        if isinstance(step, str):
            if not isinstance(value, dict) or step not in value:
                return []
            value = value[step]
        else:
            if not isinstance(value, list) or not 0 <= step < len(value):
                return []
            value = value[step]
    return [value]
