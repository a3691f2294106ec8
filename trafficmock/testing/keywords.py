"""Lets calls of the test API name the argument that a misspelt keyword may mean.

Python's own error names none before 3.13.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

from trafficmock.testing.errors import UnknownArgumentError
from trafficmock.testing.session.arguments.match_conditions import MatchArguments, WaitArguments
from trafficmock.testing.session.options_of_test import TestOptions
from trafficmock.texts.unknown_words import unknown_words

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""

_UNPACKED = {
    f"Unpack[{each.__name__}]": sorted(each.__optional_keys__)
    for each in (MatchArguments, WaitArguments, TestOptions)
}
"""The arguments of ``**match`` and ``**options``, by its annotation."""


def check_keywords(call: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse keywords that a call does not know.

    :raises UnknownArgumentError: one is unknown; the text suggests a similar one.
    """
    wrong = unknown_words("arguments", given, known)
    if wrong:
        raise UnknownArgumentError(f"{call}: {wrong}")


def checks_keywords(function: Callable[P, R], called: str = "") -> Callable[P, R]:
    """Let a function check its keywords, before Python does.

    :param called: how it is called in errors, by default as it is.
    """
    known = dict.fromkeys(_names(function))

    @wraps(function)
    def call(*args: P.args, **given: P.kwargs) -> R:
        if not given.keys() <= known.keys():
            check_keywords(called or function.__name__, given, known)
        return function(*args, **given)

    return call


def methods_check_keywords(kind: type[C]) -> type[C]:
    """Let the public methods of a class check theirs."""
    for name, method in list(vars(kind).items()):
        if inspect.isfunction(method) and (name == "__init__" or not name.startswith("_")):
            setattr(kind, name, checks_keywords(method, name.replace("__init__", kind.__name__)))
    return kind


def _names(function: Callable[..., object]) -> Iterator[str]:
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            yield from _UNPACKED[parameter.annotation]
        elif parameter.kind is not parameter.VAR_POSITIONAL and name != "self":
            yield name
