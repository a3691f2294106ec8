"""Finds in the code of a function what it awaits, and which variables have that until then."""

from __future__ import annotations

from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType
    from typing import Any

_JOINING = frozenset({"as_completed", "gather", "shield", "wait", "wait_for"})
"""Functions of asyncio that wait for what they get."""

_PLAIN = _JOINING | {"enumerate", "items", "list", "set", "tuple", "values", "zip"}
"""These, and functions that return what a collection has."""

_STARTS_STATEMENT = ("POP_TOP", "RETURN_VALUE", "STORE_")
_COROUTINE = 0x80
"""The flag of coroutines (``inspect.CO_COROUTINE``)."""

_MOST_BEFORE_LOOP = 8


def instructions(code: CodeType) -> list[Any]:
    """Return the instructions of a function, but those that only extend the next one."""
    import dis

    return [each for each in dis.get_instructions(code) if each.opname != "EXTENDED_ARG"]


def pairs(code: CodeType) -> Iterator[tuple[Any, Any]]:
    """Yield each instruction with the next one."""
    every = instructions(code)
    # Python 3.9 has no ``itertools.pairwise``.
    yield from zip(every, every[1:])


def is_awaited(frame: FrameType) -> bool:
    """Return whether code awaits at once what the function returns that it calls now."""
    return frame.f_lasti in _awaited_calls(frame.f_code)


@lru_cache(maxsize=1024)
def _awaited_calls(code: CodeType) -> set[int]:
    """Return the offsets of the calls whose results are awaited at once."""
    found: set[int] = set()
    for one, two in pairs(code):
        if one.opname.startswith("CALL") and two.opname == "GET_AWAITABLE":
            # A call may be said to be anywhere in its cache.
            found.update(range(one.offset, two.offset))
    return found


@lru_cache(maxsize=1024)
def awaited_names(code: CodeType) -> list[tuple[int, str]]:
    """Return the variables that a function awaits, and the offsets of the instructions.

    These are ``await it``, ``await them[0]``, ``await gather(*them)`` and the like, and a loop over
    them whose variable is awaited.
    """
    found: list[tuple[int, str]] = []
    loops: list[tuple[int, set[str], set[str]]] = []
    statement = _Statement()
    every = instructions(code)
    for at, each in enumerate(every):
        if each.opname == "GET_AWAITABLE":
            found.extend((each.offset, name) for name in statement.awaited())
        elif each.opname in {"GET_AITER", "GET_ITER"}:
            loops.append((each.offset, {*statement.names}, _targets(every[at + 1 :])))
        statement.add(each)
    names = {name for _, name in found}
    for offset, iterated, targets in loops:
        if targets & names:
            found.extend((offset, name) for name in iterated)
    return found


class _Statement:
    """What a statement has done so far.

    :ivar names: the variables that it has loaded.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._joins = self._awaits_each = False
        self._calls = 0
        self._last = ""

    def add(self, each: Any) -> None:
        """Add an instruction."""
        name = each.opname
        if name.startswith(_STARTS_STATEMENT):
            self.__init__()  # type: ignore[misc]
        elif name.startswith("CALL") and "INTRINSIC" not in name:
            self._calls += 1
        elif name.startswith("LOAD") and each.argval in _PLAIN:
            self._calls -= 1
            self._joins = self._joins or each.argval in _JOINING
        elif name == "LOAD_CONST" and hasattr(each.argval, "co_flags"):
            # A comprehension, until Python 3.11.
            is_awaiting = each.argval.co_flags & _COROUTINE and awaited_names(each.argval)
            self._awaits_each = self._awaits_each or bool(is_awaiting)
        self.names += _loaded(each)
        self._last = "BINARY_SUBSCR" if each.argrepr == "[]" else name

    def awaited(self) -> list[str]:
        """Return the variables that have what it awaits now."""
        if "LOAD_FAST" in self._last or self._last == "LOAD_DEREF":
            return self.names[-1:]
        is_joined = self._joins and self._calls <= 0
        return self.names if is_joined or self._awaits_each or "SUBSCR" in self._last else []


def _loaded(each: Any) -> list[str]:
    """Return the variables that an instruction loads."""
    if not ("LOAD_FAST" in each.opname or each.opname == "LOAD_DEREF"):
        return []
    if type(each.argval) is not tuple:
        return [each.argval]
    return [*each.argval[each.opname.startswith("STORE") :]]


def _targets(after: list[Any]) -> set[str]:
    """Return the variables of a loop.

    :param after: the instructions from its begin on.
    """
    found: set[str] = set()
    is_in = False
    for at, each in enumerate(after):
        if is_in and each.opname.startswith("STORE_FAST"):
            found.update([each.argval] if type(each.argval) is str else each.argval)
        elif is_in and each.opname != "UNPACK_SEQUENCE":
            break
        is_in = is_in or each.opname == "FOR_ITER"
        if not is_in and at > _MOST_BEFORE_LOOP:
            break
    return found
