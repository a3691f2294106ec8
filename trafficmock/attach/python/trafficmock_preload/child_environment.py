"""Keeps the preload in the environment of child processes, and of this process after ``exec``."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any

_VARIABLE = "PYTHONPATH"
_ATTACHED = "TRAFFICMOCK_PROXY_URL"
_PLACE_OF_ENVIRONMENT = 10
"""The index of ``env`` in the arguments of ``subprocess.Popen``, without ``self``."""


def with_preload(environment: Mapping[Any, Any], directory: str) -> Mapping[Any, Any]:
    """Put the preload first in ``PYTHONPATH``, if the process is to be attached.

    Other tools with a ``sitecustomize`` put their directory first, and some of them do not import
    the next one. Some applications replace the variable.

    :param environment: the variables of the process, as text.
    :returns: the same object, if there is nothing to change.
    """
    if not environment.get(_ATTACHED):
        return environment
    entries = [entry for entry in str(environment.get(_VARIABLE, "")).split(os.pathsep) if entry]
    if entries[:1] == [directory]:
        return environment
    others = [entry for entry in entries if entry != directory]
    return {**environment, _VARIABLE: os.pathsep.join([directory, *others])}


def change_os(directory: str) -> None:
    """Change ``os.execv`` and ``os.execve``, so that the new program has the preload."""
    for name, place in (("execv", None), ("execve", 2)):
        original = getattr(os, name, None)
        if original is not None:
            setattr(os, name, _exec(original, place, directory))


def _exec(original: Callable[..., Any], place: int | None, directory: str) -> Callable[..., Any]:
    def replaced(*args: Any) -> Any:
        if place is None:
            _amend_own(directory)
            return original(*args)
        given = list(args)
        if len(given) > place:
            given[place] = with_preload(given[place], directory)
        return original(*given)

    return replaced


def _amend_own(directory: str) -> None:
    amended = with_preload(os.environ, directory)
    if amended is not os.environ:
        os.environ[_VARIABLE] = amended[_VARIABLE]


def change_subprocess(module: ModuleType, directory: str) -> None:
    """Change ``subprocess.Popen``, so that child processes have the preload."""
    popen: Any = module.__dict__["Popen"]
    original = popen.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - that of Popen
        if len(args) > _PLACE_OF_ENVIRONMENT:
            given = list(args)
            if given[_PLACE_OF_ENVIRONMENT] is not None:
                given[_PLACE_OF_ENVIRONMENT] = with_preload(given[_PLACE_OF_ENVIRONMENT], directory)
            args = tuple(given)
        elif kwargs.get("env") is not None:
            kwargs["env"] = with_preload(kwargs["env"], directory)
        else:
            _amend_own(directory)
        original(self, *args, **kwargs)

    popen.__init__ = __init__
