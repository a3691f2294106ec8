"""The ``repr`` of what holds traffic: it may stand in a log or in an error."""

from __future__ import annotations

from enum import Enum

from msgspec import UNSET, Struct

WORDS = frozenset(
    {"id", "action", "code", "direction", "kind", "method", "mode", "part", "role", "side", "state"}
)
"""The fields whose texts are words of ours, besides ids."""


def quiet_repr(self: Struct) -> str:
    """Return a ``repr`` with ids, numbers and words of a list, and none of the texts of traffic.

    Structs have it as their ``__repr__``.
    """
    shown = [
        f"{name}={_shown(name, value)}"
        for name in self.__struct_fields__
        if (value := getattr(self, name)) is not UNSET
    ]
    return f"{type(self).__name__}({', '.join(shown)})"


def _shown(name: str, value: object) -> str:
    if value is None or isinstance(value, bool | int | float | Enum | Struct):
        return repr(value)
    if isinstance(value, str) and (name in WORDS or name.endswith("_id")):
        return repr(value)
    if isinstance(value, list | tuple | dict | set | frozenset):
        return f"<{len(value)}>"
    return "…"
