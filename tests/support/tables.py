"""Everything that a coordinator holds, found by walking through it."""

from typing import Any

import attrs

from trafficmock.core.deadlines import Deadlines
from trafficmock.core.settings import Settings
from trafficmock.matching import RouteIndex

_NOT_KEPT_PER_PEER = {"_handlers", "_versions_seen", "routing"}
"""Tables that do not grow with connections, tests or traffic."""


def tables(root: object) -> dict[str, list[str]]:
    """List the keys of every table that is not empty, by the path to it.

    Tables that are added to the coordinator later are found without a change here.
    """
    found: dict[str, list[str]] = {}
    _walk(root, "", found, set())
    return found


def _walk(value: Any, path: str, found: dict[str, list[str]], seen: set[int]) -> None:
    if isinstance(value, dict):
        if not path.endswith("._indexes"):  # one for each kind of route, always
            _note(found, path, value)
        for key, item in value.items():
            _walk(item, f"{path}[{key}]", found, seen)
    elif isinstance(value, list | tuple | set | frozenset):
        _note(found, path, value)
    elif isinstance(value, RouteIndex):
        _note(found, f"{path}._routes", value._routes)
        _note(found, f"{path}._by_client", value._by_client)
    elif isinstance(value, Deadlines) and id(value) not in seen:
        seen.add(id(value))
        _note(found, path, _open_acts(value))
    elif (
        attrs.has(type(value))
        and not isinstance(value, Settings | Deadlines)
        and id(value) not in seen
    ):
        seen.add(id(value))
        for field in attrs.fields(type(value)):
            if field.name not in _NOT_KEPT_PER_PEER:
                _walk(getattr(value, field.name), f"{path}.{field.name}", found, seen)


def _open_acts(deadlines: Deadlines) -> list[str]:
    """Name what is done later; the heartbeat goes on, or ends at its next beat."""
    acts = [deadline.act for _, _, deadline in deadlines._heap if deadline.act is not None]
    names = [getattr(act, "func", act).__qualname__ for act in acts]
    return [name for name in names if name != "Heartbeat._ping"]


def _note(found: dict[str, list[str]], path: str, keys: Any) -> None:
    if keys:
        found[path] = sorted(str(key) for key in keys)
