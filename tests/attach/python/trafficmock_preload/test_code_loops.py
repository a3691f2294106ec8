"""The loops of functions, as the code of each Python says them."""

from __future__ import annotations

from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from trafficmock_preload.background.code_loops import ENDLESS, FOR, WHILE, loops
from twisted.trial.unittest import SynchronousTestCase

KINDS = {"none": 0, "for": FOR, "while": WHILE, "endless": ENDLESS}

SOURCE = """
async def none_after_with(q):
    async with q:
        start()
    try:
        await a()
    except OSError:
        b()
    await work(1)

async def endless_get(q):
    while True:
        job = await q.get()
        await work(job)

async def endless_try(q):
    while True:
        try:
            job = await q.get()
        except OSError:
            continue
        with q:
            work(job)

async def endless_with(q):
    start()
    try:
        while True:
            async with q:
                await work(1)
            try:
                a()
            finally:
                b()
    finally:
        stop()

def endless_nested(q):
    while 1:
        for x in q:
            if x:
                break
        work(x)

def endless_line(q):
    while True: work(q.get())

async def while_left_by_error(q):
    while True:
        try:
            job = await q.get()
        except IndexError:
            break
        with q:
            work(job)

def while_sentinel(q):
    while True:
        x = q.get()
        if x is None:
            break
        work(x)
    done()

def while_return(q):
    while True:
        x = q.get()
        if x is None:
            return
        work(x)

def while_condition(q):
    while not q.stopped:
        work(q.get())

def while_step(q):
    while step():
        pass

def while_again(q):
    while True:
        try:
            return work(q)
        except OSError:
            sleep(1)

async def while_cancelled(q):
    while True:
        try:
            await work(q)
        except Cancelled:
            return
        except Exception as error:
            log(error)

async def while_stream(q):
    async for x in q:
        await work(x)

def for_long(q):
    for x in q:
        if x:
            BODY
        work(x)

def for_list(q):
    for x in q:
        if x:
            continue
        work(x)

async def for_await(q):
    for x in q:
        async with q:
            await work(x)

async def none_at_all(q):
    async with q:
        await work(q)
"""


def kind_of(function: Any) -> int:
    return max((kind for *_, kind in loops(function.__code__)), default=0)


def codes(code: CodeType) -> list[CodeType]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return [code, *(found for each in inner for found in codes(each))]


class LoopTests(SynchronousTestCase):
    """Loops over what there is, until something comes, and for ever."""

    def test_kinds(self) -> None:
        """Each function says in its name what it is."""
        names: dict[str, Any] = {}
        exec(compile(SOURCE.replace("BODY", "; ".join(["work(x)"] * 99)), "jobs.py", "exec"), names)  # noqa: S102
        for name, function in names.items():
            if isinstance(function, FunctionType):
                self.assertEqual(kind_of(function), KINDS[name.partition("_")[0]], name)

    def test_lines(self) -> None:
        """A loop has the lines of its condition and its body."""
        names: dict[str, Any] = {}
        exec(compile("def f(q):\n a()\n while q:\n  b()\n  c()\n d()", "jobs.py", "exec"), names)  # noqa: S102
        self.assertEqual(loops(names["f"].__code__), [(3, 5, WHILE)])

    @given(
        st.sampled_from(
            sorted(Path(SynchronousTestCase.run.__code__.co_filename).parent.glob("*.py"))
        )
    )
    def test_any_code(self, path: Path) -> None:
        """Whatever code there is has loops within its lines."""
        for code in codes(compile(path.read_bytes(), str(path), "exec")):
            last = max((line for *_, line in code.co_lines() if line), default=0)
            for first, final, kind in loops(code):
                self.assertIn(kind, (FOR, WHILE, ENDLESS))
                self.assertLessEqual(code.co_firstlineno, final)
                self.assertLessEqual(first, final)
                self.assertLessEqual(final, last)
