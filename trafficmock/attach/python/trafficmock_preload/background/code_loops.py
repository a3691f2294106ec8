"""Finds the loops of a function in its code, and whether they come to an end."""

from __future__ import annotations

import sys
from functools import lru_cache
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType
    from typing import Any

FOR, WHILE, ENDLESS = 1, 2, 3
"""Kinds of loops: over what there is, until something comes, for ever."""

_RETURNS = ("RETURN_VALUE", "RETURN_CONST")
_TO_HANDLERS = ("SETUP_FINALLY", "SETUP_WITH", "SETUP_ASYNC_WITH", "JUMP_IF_NOT_EXC_MATCH")
"""Before Python 3.11: jumps to what handles an exception."""


def loop_at(frame: FrameType) -> int:
    """Return the kind of the loop in which a function is; 0 if it is in none."""
    line = frame.f_lineno
    kinds = [kind for begin, end, kind in loops(frame.f_code) if begin <= line <= end]
    return max(kinds, default=0)


@lru_cache(maxsize=1024)
def loops(code: CodeType) -> list[tuple[int, int, int]]:
    """Return the first and the last line of each loop in a function, and its kind.

    Lines count, because the condition of a ``while`` is also there before the loop, and what
    handles exceptions is behind all.
    """
    return [*_Function(code).loops()]


class _Function:
    """The instructions of a function.

    From Python 3.12 on those that handle exceptions are behind all others.
    """

    def __init__(self, code: CodeType) -> None:
        import dis

        self._every = [*dis.get_instructions(code)]
        self._jumps = {*dis.hasjrel, *dis.hasjabs}
        entries: Any = ()
        if sys.version_info >= (3, 12):
            entries = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
        self._handled = [(each.start, each.end, each.target) for each in entries]
        begins = {each.offset for each in self._every if each.opname == "PUSH_EXC_INFO"}
        self._handlers = {target for *_, target in self._handled if target in begins}
        self._cold = min((target for *_, target in self._handled), default=1 + len(code.co_code))
        starts = {at: line for at, line in dis.findlinestarts(code) if line}
        self._lines: dict[int, int] = {}
        line = code.co_firstlineno
        for each in self._every:
            line = self._lines[each.offset] = starts.get(each.offset, line)

    def loops(self) -> Iterator[tuple[int, int, int]]:
        """Yield the first and the last line of each loop, and its kind."""
        found: dict[tuple[int, bool], tuple[int, int, int]] = {}
        for begin, end in self._ranges():
            within = self._within(begin, end)
            covered = [self._lines[at] for at in within]
            first, last = min(covered), max(covered)
            kind = self._kind(begin, end, within, first)
            # What goes on with the next round may jump to another place of the same line.
            key = first, kind == FOR
            _, known_last, known_kind = found.get(key, (first, last, kind))
            found[key] = first, max(last, known_last), min(kind, known_kind)
        yield from found.values()

    def _ranges(self) -> list[tuple[int, int]]:
        """Return the first and last instruction of each loop, by its jumps backwards.

        That of an ``await`` is none. Ranges that overlap are of one loop.
        """
        hot: dict[int, int] = {}
        cold: dict[int, int] = {}
        before = ""
        for each in self._every:
            is_of_await = each.opname == "JUMP_BACKWARD_NO_INTERRUPT" or before == "CLEANUP_THROW"
            before = each.opname
            is_back = each.opcode in self._jumps and each.argval <= each.offset
            if is_back and not is_of_await and self._repeats(each):
                ends = hot if each.offset < self._cold else cold
                ends[each.argval] = max(ends.get(each.argval, 0), each.offset)
        found: list[tuple[int, int]] = []
        for begin, end in sorted(hot.items()):
            if found and found[-1][0] < begin <= found[-1][1] < end:
                found.append((found.pop()[0], end))
            else:
                found.append((begin, end))
        # What handles an exception goes on with a loop; of some loops nothing else does.
        for begin, end in cold.items():
            if not any(
                self._is_head(begin, first) or first <= begin <= last for first, last in found
            ):
                found.append((begin, end))
        return found

    def _repeats(self, each: Any) -> bool:
        """Return whether a jump backwards goes to before the code whose exception it handles.

        Others go on behind that code, such as after an ``async with``.
        """
        handlers = {at for at in self._handlers if at <= each.offset}
        if not handlers:
            return True
        latest = max(handlers)
        return bool(each.argval <= min(start for start, _, to in self._handled if to == latest))

    def _is_head(self, at: int, first: int) -> bool:
        """Return whether nothing is done from an instruction to the first one of a loop."""
        return at < first and all(
            each.opname == "NOP" for each in self._every if at <= each.offset < first
        )

    def _within(self, begin: int, end: int) -> set[int]:
        """Return the offsets of a loop, with those of what handles exceptions in it."""
        within = {at for at in self._lines if begin <= at <= end}
        for start, stop, target in self._handled:
            if begin <= start and stop <= end + 2:
                for each in self._every:
                    if each.offset >= target:
                        within.add(each.offset)
                        if each.opname == "RERAISE":
                            break
        return within

    def _kind(self, begin: int, end: int, within: set[int], first: int) -> int:
        """Return the kind of a loop."""
        after = (each.opname for each in self._every if each.offset >= begin)
        opened = [*islice((name for name in after if name != "EXTENDED_ARG"), 2)]
        if opened[0] == "FOR_ITER":
            return FOR
        if "GET_ANEXT" in opened:
            return WHILE
        hot = max((at for at in within if at < self._cold), default=end)
        inside = [each for each in self._every if each.offset in within]
        has_end = any(self._leaves(each, begin, hot, within, first) for each in inside)
        return WHILE if has_end else ENDLESS

    def _leaves(self, each: Any, begin: int, hot: int, within: set[int], first: int) -> bool:
        """Return whether an instruction may leave a loop, but by an exception."""
        if each.opname in _RETURNS:
            return True
        to = each.argval
        if each.opcode not in self._jumps or to in within or to >= self._cold:
            # The jump back may depend on the condition of the loop.
            return bool(to == begin and "_IF_" in each.opname)
        return each.opname not in _TO_HANDLERS and (to > hot or self._lines[to] < first)
