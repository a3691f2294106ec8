"""Reads the arguments that match more than the URL: ``match_query``, ``match_json`` and others."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypedDict

from attrs import frozen
from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import UnknownArgumentError, UsageError
from trafficmock.testing.session.arguments.js_patterns import js_pattern
from trafficmock.texts.unknown_words import unknown_words
from trafficmock.wire.payloads.serialized_matcher import (
    MOST_CONDITIONS,
    MOST_STEPS,
    SerializedCondition,
    SerializedRegex,
)

Text = str | float | bool | re.Pattern[str] | Callable[[str], bool] | None
"""A value of a query, header or form; ``None`` if the name must be absent."""


class MatchArguments(TypedDict, total=False):
    """The conditions of a route or wait on more than the URL; all must hold.

    A value may be a ``re.Pattern``, which is searched, or a function of the value, which returns
    whether it matches. A function is called in this process, after all else matches.

    :ivar match_query: names and values of the query string. One of the values of a name must be
        equal; a list is for all values of a name; ``None`` is for a name that is absent.
    :ivar match_headers: the same of headers, with names in any case.
    :ivar match_form: the same of the fields of an ``application/x-www-form-urlencoded`` body.
    :ivar match_json: a part of the JSON body: of objects the members that are named, of lists the
        length and each item.
    :ivar match_graphql: the name of the operation, or the name and a part of the variables.
    """

    match_query: Mapping[str, Text | list[Text]]
    match_headers: Mapping[str, Text | list[Text]]
    match_json: Any
    match_form: Mapping[str, Text | list[Text]]
    match_graphql: str | re.Pattern[str] | Callable[[str], bool] | tuple[str | re.Pattern[str], Any]


class WaitArguments(MatchArguments, total=False):
    """The arguments that select a request to wait for, besides its URL.

    :ivar method: a method or several, in any case.
    :ivar client_id: the client id of an application, or several.
    """

    method: str | Iterable[str] | None
    client_id: str | Iterable[str] | None


@frozen
class ValueCheck:
    """A function over the value at one place of a request.

    :param place: the condition that there is a value.
    """

    place: SerializedCondition
    test: Callable[[Any], Any]


_NAMED = {"match_query": "query", "match_headers": "header", "match_form": "form"}
_KNOWN = (*_NAMED, "match_json", "match_graphql")


def read_conditions(
    given: Mapping[str, Any],
) -> tuple[list[SerializedCondition], tuple[ValueCheck, ...]]:
    """Read the arguments.

    :returns: what the proxy compares, and what only this process can.
    :raises UsageError: a value cannot be compared.
    :raises UnknownArgumentError: there is no such argument.
    """
    # Callers read the first three.
    wrong = unknown_words("arguments", given, ("url", "method", "client_id", *_KNOWN))
    if wrong:
        raise UnknownArgumentError(wrong)
    found = [each for name, value in given.items() for each in _read(name, value)]
    if len(found) > MOST_CONDITIONS:
        raise UsageError(f"{len(found)} values to compare are more than {MOST_CONDITIONS}")
    checks = tuple(each for each in found if isinstance(each, ValueCheck))
    return [each.place if isinstance(each, ValueCheck) else each for each in found], checks


_Condition = SerializedCondition | ValueCheck


def _read(name: str, value: Any) -> Iterator[_Condition]:
    if name in _NAMED:
        yield from _of_names(name, value)
    elif name == "match_json":
        yield from _of_json("json", [], value, name)
    else:
        operation, *variables = value if isinstance(value, tuple) else (value,)
        is_name = isinstance(operation, str | re.Pattern) or callable(operation)
        if not is_name or len(variables) > 1:
            raise UsageError(
                f"{name} is the name of an operation, or (name, variables), not {value!r}"
            )
        yield _of_value("operation", [], operation, name)
        for each in variables:
            yield from _of_json("variables", [], each, name)


def _of_names(name: str, given: Any) -> Iterator[_Condition]:
    if not isinstance(given, Mapping) or not all(isinstance(each, str) and each for each in given):
        raise UsageError(f"{name} is a dict of names and values, not {given!r}")
    for key, value in given.items():
        where = f"{name}[{key!r}]"
        if value is None:
            yield SerializedCondition(_part(name), [key], is_absent=True)
        elif isinstance(value, list | tuple):
            yield SerializedCondition(_part(name), [key], length=len(value))
            for index, each in enumerate(value):
                yield _of_value(_part(name), [key, index], _as_text(each), where)
        else:
            yield _of_value(_part(name), [key], _as_text(value), where)


def _part(name: str) -> Any:
    return _NAMED[name]


def _as_text(value: Any) -> Any:
    """Return the text of a number or a truth value, as clients write them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _of_json(part: Any, path: list[str | int], wanted: Any, where: str) -> Iterator[_Condition]:
    if len(path) > MOST_STEPS:
        raise UsageError(f"{where} is nested too deeply")
    if isinstance(wanted, Mapping):
        if not wanted:
            yield SerializedCondition(part, path, is_object=True)
        for key, value in wanted.items():
            if not isinstance(key, str):
                raise UsageError(f"{where} has the key {key!r}; JSON has texts as keys")
            yield from _of_json(part, [*path, key], value, f"{where}[{key!r}]")
    elif isinstance(wanted, list | tuple):
        yield SerializedCondition(part, path, length=len(wanted))
        for index, value in enumerate(wanted):
            yield from _of_json(part, [*path, index], value, f"{where}[{index}]")
    else:
        yield _of_value(part, path, wanted, where, is_json=True)


def _of_value(
    part: Any, path: list[str | int], wanted: Any, where: str, *, is_json: bool = False
) -> _Condition:
    if isinstance(wanted, re.Pattern):
        return SerializedCondition(part, path, matches=_regex(wanted, where))
    if callable(wanted):
        if inspect.iscoroutinefunction(wanted):
            raise UsageError(f"{where} must be a plain function")
        return ValueCheck(SerializedCondition(part, path, has_function=True), wanted)
    if isinstance(wanted, str) or (is_json and isinstance(wanted, int | float | None)):
        return SerializedCondition(part, path, equals=wanted)
    raise UsageError(f"{where} cannot be compared with {wanted!r}")


def _regex(pattern: re.Pattern[str], where: str) -> SerializedRegex:
    found: SerializedRegex | UnsetType = js_pattern(pattern)
    if found is UNSET:
        raise UsageError(
            f"{where}: the proxy cannot compare the pattern {pattern.pattern!r}; without "
            "lookarounds, backreferences and flags beyond i, m and s it can"
        )
    return found
