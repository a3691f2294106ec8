"""The parts of one request that conditions look at, each read once for all conditions."""

from __future__ import annotations

import codecs
import copy
import gc
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from trafficmock.matching.graphql_request import (
    LONGEST_DOCUMENTS,
    MOST_OPERATIONS,
    GraphqlOperation,
    GraphqlRequestError,
    operations_part,
)
from trafficmock.matching.patterns.match_cost import JudgedUrl, MatchBudget
from trafficmock.matching.patterns.match_result import YES
from trafficmock.matching.patterns.regex import Regex

MOST_BYTES = 8 * 2**20
"""The largest body that is compared; a larger one meets no condition on bodies."""

MOST_FIELDS = 100_000
"""The most fields of a query or a form that is compared."""

MOST_PARTS = 1_000_000
"""The most values in a JSON body that is compared, as its brackets and commas count them."""

_OF_GRAPHQL = frozenset({"query", "operationName", "variables", "extensions"})
"""The parameters of a query string that belong to a GraphQL request ("GraphQL over HTTP")."""

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_CHARSETS = frozenset({"utf-16", "utf-16le", "utf-16be", "iso-8859-1", "windows-1252"})
"""Those besides UTF-8 that programs send JSON in; servers read what the content type names."""

_BOMS_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Fields = dict[str, list[str]]
T = TypeVar("T")


class UnreadablePartError(ValueError):
    """A part of the request is not what a condition reads; the message is why."""


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
        self._searched: JudgedUrl | None = None

    @property
    def awaits_body(self) -> bool:
        """Whether the body is still to come."""
        return self._body is None and not self._lacks

    def values(self, part: str, path: Sequence[str | int]) -> list[Any]:
        """Return the values at a place; several only for a name that repeats.

        :param part: ``query``, ``header``, ``form``, ``json``, ``operation`` or ``variables``.
        :param path: the names and indexes that lead there; for ``query``, ``header`` and ``form``
            the name, and the index of one of its values.
        :raises UnreadablePartError: the body is not what the part needs, or has too many values.
        """
        match part:
            case "json":
                return _at(_given(self._json), path)
            case "operation":
                return [*_given(self._operation_names)]
            case "variables":
                operations = _given(self._operations)
                return [found for each in operations for found in _at(each.variables, path)]
            case "query" | "form" | "header":
                name, *index = path or ("",)
                key = str(name).lower() if part == "header" else str(name)
                named = self._named(part).get(key, [])
                return [*named[_index(index[0])]] if index else named
        return []

    def fields(self, part: str) -> Fields:
        """Return all values of a query, form or header, by their names.

        :raises UnreadablePartError: the body has no form, or there are too many fields.
        """
        return self._named(part)

    def by_operation(self) -> Sequence[RequestContent]:
        """Return the request, or for a GraphQL batch one with each of its operations alone."""
        operations = self._operations
        if isinstance(operations, UnreadablePartError) or len(operations) == 1:
            return (self,)
        return [self._with(each) for each in operations]

    def _with(self, operation: GraphqlOperation) -> RequestContent:
        alone = copy.copy(self)
        # Cached properties: the other ones are those of this request.
        vars(alone).pop("_operation_names", None)
        vars(alone)["_operations"] = (operation,)
        return alone

    def search(self, regex: Regex, text: str) -> bool:
        """Search a text for a regular expression; not found if that takes too many steps."""
        if self._searched is None or self._searched.url is not text:
            self._searched = JudgedUrl(text)
        return self._budget.search(regex.pattern, self._searched) is YES

    def _named(self, part: str) -> Fields:
        if part == "header":
            return self._headers
        return _given(self._query if part == "query" else self._form)

    @cached_property
    def _query(self) -> Fields | UnreadablePartError:
        query = self.url.partition("#")[0].partition("?")[2]
        return _attempt(lambda: _fields(query, "query"))

    @cached_property
    def _headers(self) -> Fields:
        by_name = _by_name((name.lower(), value) for name, value in self._lines)
        return {name: [", ".join(values)] for name, values in by_name.items()}

    @cached_property
    def _content(self) -> bytes | UnreadablePartError:
        return _attempt(self._read_content)

    def _read_content(self) -> bytes:
        if self._body is None:
            raise UnreadablePartError(self._lacks)
        content = self._body()
        if len(content) > MOST_BYTES:
            raise UnreadablePartError(f"the body has {len(content)} bytes, more than {MOST_BYTES}")
        coding = self._headers.get("content-encoding")
        if coding and coding[0].strip().lower() != "identity":
            raise UnreadablePartError(f"the body has the content-encoding {coding[0]}")
        return content

    @cached_property
    def _json(self) -> Any:
        return _attempt(self._read_json)

    def _read_json(self) -> Any:
        content = _given(self._content)
        if not content:
            raise UnreadablePartError("there is no body")
        return _json(content, self._content_type)

    @property
    def _content_type(self) -> str:
        return self._headers.get("content-type", [""])[0]

    @cached_property
    def _form(self) -> Fields | UnreadablePartError:
        return _attempt(lambda: _fields(_given(self._content).decode("utf-8", "replace"), "form"))

    @cached_property
    def _operations(self) -> tuple[GraphqlOperation, ...] | UnreadablePartError:
        """The operations of a GraphQL request, several of a batch."""
        return _attempt(self._read_operations)

    def _read_operations(self) -> tuple[GraphqlOperation, ...]:
        query = _given(self._query)
        asked = {name: values[0] for name, values in query.items() if name in _OF_GRAPHQL}
        if asked and (self._body is None or not _given(self._content)):
            return (GraphqlOperation(asked),)
        content_type = self._content_type
        match content_type.partition(";")[0].strip().lower():
            case "application/graphql":
                document = _given(self._content).decode("utf-8", "replace")
                return (GraphqlOperation(asked | {"query": document}),)
            case "application/x-www-form-urlencoded":
                form = {name: values[0] for name, values in _given(self._form).items()}
                return (GraphqlOperation(asked | form),)
            case "multipart/form-data":
                members = _json(operations_part(content_type, _given(self._content)))
            case _:
                members = _given(self._json)
        operations = members if isinstance(members, list) else [members]
        if not operations or not all(isinstance(each, dict) for each in operations):
            raise UnreadablePartError("the body is no GraphQL request")
        if len(operations) > MOST_OPERATIONS:
            raise UnreadablePartError(f"the batch has more than {MOST_OPERATIONS} operations")
        # What the body names goes before the query string.
        found = tuple(GraphqlOperation(asked | each) for each in operations)
        if sum(len(each.document) for each in found) > LONGEST_DOCUMENTS:
            raise UnreadablePartError(
                f"the GraphQL documents have more than {LONGEST_DOCUMENTS} characters"
            )
        return found

    @cached_property
    def _operation_names(self) -> list[str] | UnreadablePartError:
        operations = _given(self._operations)
        return _attempt(lambda: [each.name for each in operations if each.name is not None])


def _attempt(read: Callable[[], T]) -> T | UnreadablePartError:
    """Read a part, or return why it cannot be read, so that this is found out once."""
    try:
        return read()
    except UnreadablePartError as error:
        return error
    except GraphqlRequestError as error:
        return UnreadablePartError(str(error))


def _given(part: T | UnreadablePartError) -> T:
    """Return a part.

    :raises UnreadablePartError: it cannot be read.
    """
    if isinstance(part, UnreadablePartError):
        # A new error: that one would collect the traceback of each time that it is raised.
        raise UnreadablePartError(str(part)) from None
    return part


def _json(content: bytes, content_type: str = "") -> Any:
    """Return the value of a JSON text.

    :param content_type: may name another charset than UTF-8.
    :raises UnreadablePartError: it is none, or has more than :data:`MOST_PARTS` values.
    """
    content = _as_utf8(content, content_type)
    if sum(map(content.count, (b"[", b"{", b","))) > MOST_PARTS:
        raise UnreadablePartError(f"the JSON has more than {MOST_PARTS} values")
    try:
        return _decoded(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise UnreadablePartError("the body is no JSON") from None


def _as_utf8(content: bytes, content_type: str) -> bytes:
    """Return a JSON text in UTF-8 without a byte order mark, which a few programs send."""
    if content.startswith(codecs.BOM_UTF8):
        return content.removeprefix(codecs.BOM_UTF8)
    named = _CHARSET.search(content_type)
    charset = named[1].lower() if named else "utf-16" if content.startswith(_BOMS_UTF16) else ""
    if charset not in _CHARSETS:
        return content
    try:
        return content.decode(charset).removeprefix("\ufeff").encode()
    except ValueError:
        return content


def _decoded(content: bytes) -> Any:
    """Decode JSON.

    The garbage collector is paused: it would look again and again at all the objects that are made,
    and take several times as long as the decoding.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return msgspec.json.decode(content)
    finally:
        if was_enabled:
            gc.enable()


def _fields(text: str, what: str) -> Fields:
    """Return the fields of a query or form by their names.

    :raises UnreadablePartError: there are more than :data:`MOST_FIELDS`.
    """
    if text.count("&") >= MOST_FIELDS:
        raise UnreadablePartError(f"the {what} has more than {MOST_FIELDS} fields")
    return _by_name(parse_qsl(text, keep_blank_values=True))


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
