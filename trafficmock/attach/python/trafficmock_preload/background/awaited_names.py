"""Finds in the code of a function what it waits for, and which variables have that until then."""

from __future__ import annotations

from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType
    from typing import Any

_JOINING = frozenset({"as_completed", "gather", "shield", "wait", "wait_for"})
"""Functions of asyncio that wait for what they get."""

ASKING = frozenset({"exception", "get", "join", "result"})
"""Methods of futures, threads and results of pools that wait."""

_MODULES = frozenset({"asyncio", "futures"})
"""Modules with functions that wait, as a function may have imported them."""

_COMPREHENSIONS = frozenset({"<dictcomp>", "<listcomp>", "<setcomp>"})

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


def is_promised(frame: FrameType) -> bool:
    """Return whether code will wait for what the function returns that it calls now.

    It stores that in a variable, or in a collection, whose result it asks for or awaits later.
    """
    if frame.f_code.co_name in _COMPREHENSIONS and frame.f_back is not None:
        # It is a function of its own until Python 3.11.
        frame = frame.f_back
    return frame.f_lasti in _promised_calls(frame.f_code)


@lru_cache(maxsize=1024)
def _promised_calls(code: CodeType) -> set[int]:
    """Return the offsets of the calls whose results are waited for, at once or later."""
    found: set[int] = {*_awaited_calls(code)}
    every = [each for each in instructions(code) if each.opname != "PRECALL"]
    waited = [*awaited_names(code), *awaited_names(code, asks=True)]
    statement = _Statement()
    for at, each in enumerate(every[:-1]):
        if each.opname.startswith("CALL"):
            stored = {*_stored(every, at + 1), *statement.appended}
            if any(name in stored and offset > each.offset for offset, name in waited):
                found.update(range(each.offset, every[at + 1].offset))
        statement.add(each)
    return found


def _stored(every: list[Any], at: int) -> list[str]:
    """Return the variables in which the result of a call is stored, from what comes after it."""
    after = every[at : at + 3]
    if after[0].opname in {"LIST_APPEND", "MAP_ADD", "SET_ADD"}:
        # A comprehension, from Python 3.12 on.
        ends = (each for each in range(at, len(every)) if every[each].opname == "END_FOR")
        end = next(ends, len(every))
        stores = (each for each in every[end : end + _MOST_BEFORE_LOOP])
        return [str(each.argval) for each in stores if each.opname == "STORE_FAST"]
    if after[-1].opname == "STORE_SUBSCR":
        return _loaded(after[0])[:1]
    if after[0].opname in {"STORE_FAST", "STORE_DEREF"}:
        return [after[0].argval]
    return [after[0].argval[0]] if after[0].opname == "STORE_FAST_LOAD_FAST" else []


@lru_cache(maxsize=1024)
def awaited_names(code: CodeType, *, asks: bool = False) -> list[tuple[int, str]]:
    """Return the variables that a function awaits, and the offsets of the instructions.

    These are ``await it``, ``await them[0]``, ``await gather(*them)`` and the like, and a loop over
    them whose variable is awaited.

    :param asks: whether it is for threads, whose results are asked for: ``it.result()``.
    """
    found: list[tuple[int, str]] = []
    loops: list[tuple[int, set[str], set[str]]] = []
    statement = _Statement(asks=asks)
    every = instructions(code)
    for at, each in enumerate(every):
        if each.opname in {"GET_AITER", "GET_ITER"}:
            loops.append((each.offset, {*statement.names}, _targets(every[at + 1 :])))
        elif each.argval in ASKING if asks else each.opname == "GET_AWAITABLE":
            found.extend((each.offset, name) for name in statement.awaited())
        elif asks and each.opname.startswith("CALL"):
            found.extend((each.offset, name) for name in statement.joined())
        statement.add(each)
    names = {name for _, name in found}
    for offset, iterated, targets in loops:
        if targets & names:
            found.extend((offset, name) for name in iterated)
    return found


class _Statement:
    """What a statement has done so far.

    :param asks: whether results are asked for, and not awaited.
    :ivar names: the variables that it has loaded.
    :ivar appended: the one to whose end it adds what it calls for.
    """

    def __init__(self, *, asks: bool = False) -> None:
        self._asks = asks
        self.names: list[str] = []
        self.appended: list[str] = []
        self._joins = self._awaits_each = self._is_of_variable = False
        self._calls = 0
        self._last = ""

    def add(self, each: Any) -> None:
        """Add an instruction."""
        name = each.opname
        if name.startswith(_STARTS_STATEMENT):
            self.__init__(asks=self._asks)  # type: ignore[misc]
        elif name.startswith("CALL") and "INTRINSIC" not in name:
            self._calls += 1
        elif name.startswith("LOAD") and each.argval in _PLAIN:
            self._calls -= 1
            # A method of an object waits for something else.
            is_method = name.startswith(("LOAD_ATTR", "LOAD_METHOD")) and self._is_of_variable
            self._joins = self._joins or (each.argval in _JOINING and not is_method)
        elif name.startswith("LOAD") and each.argval in {"add", "append"}:
            self.appended = self.names[-1:]
        elif name == "LOAD_CONST" and hasattr(each.argval, "co_flags"):
            # A comprehension, until Python 3.11.
            is_coroutine = bool(each.argval.co_flags & _COROUTINE)
            is_waiting = is_coroutine != self._asks and awaited_names(each.argval, asks=self._asks)
            self._awaits_each = self._awaits_each or bool(is_waiting)
        if name.startswith("LOAD") and not name.startswith(("LOAD_ATTR", "LOAD_METHOD")):
            self._is_of_variable = "_GLOBAL" not in name and each.argval not in _MODULES
        self.names += _loaded(each)
        self._last = "BINARY_SUBSCR" if each.argrepr == "[]" else name

    def awaited(self) -> list[str]:
        """Return the variables that have what it awaits now."""
        if "LOAD_FAST" in self._last or self._last == "LOAD_DEREF":
            return self.names[-1:]
        is_item = self._awaits_each or "SUBSCR" in self._last
        return self.names if is_item else [] if self._asks else self.joined()

    def joined(self) -> list[str]:
        """Return the variables that functions get which wait for what they have."""
        is_joined = self._joins and self._calls <= 0
        return self.names if is_joined or (self._asks and self._awaits_each) else []


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
