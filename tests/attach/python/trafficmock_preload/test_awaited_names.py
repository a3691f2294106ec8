"""Which variables a function awaits."""

from __future__ import annotations

import asyncio
import sys
from typing import Any
from unittest.mock import Mock

from trafficmock_preload.background.awaited_names import (
    awaited_names,
    is_awaited,
    is_promised,
)
from twisted.trial.unittest import SynchronousTestCase


async def joined(one: Any, other: Any, each: Any, many: Any) -> Any:
    await asyncio.wait_for(one, 5)
    await asyncio.gather(other, each)
    return await asyncio.gather(*many.values(), return_exceptions=True)


async def items(many: Any, at: Any) -> Any:
    return await many[at]


async def looped(one: Any, other: Any) -> None:
    for each in one:
        await each
    for at, each in other.items():
        await asyncio.shield(each)
        one.append(at)


async def listed(many: Any) -> list[Any]:
    return [await each for each in many]


async def completed(many: Any) -> None:
    for each in asyncio.as_completed(many):
        await each


async def given(one: Any, many: Any, found: Any, send: Any) -> None:
    await send(one)
    await send.wait(one)
    await asyncio.wait_for(send(one), 5)
    for each in many:
        found.append(each)
    await asyncio.sleep(0)


class PromiseTests(SynchronousTestCase):
    """Calls whose results are waited for later, or are not."""

    def setUp(self) -> None:
        self.found: list[bool] = []

    def begin(self, *_: Any) -> Mock:
        self.found.append(is_promised(sys._getframe(1)))
        return Mock()

    def test_variables(self) -> None:
        """A variable is asked for its result."""
        one = self.begin()
        other = self.begin()
        self.begin()
        one.result()
        other.done()
        self.assertEqual(self.found, [True, False, False])

    def test_comprehension(self) -> None:
        """So is each of a collection."""
        every = [self.begin(each) for each in "12"]
        self.assertEqual([self.found, *(each.result() for each in every)][0], [True, True])

    def test_unasked(self) -> None:
        """Nothing is."""
        every = [self.begin(each) for each in "12"]
        for each in every:
            each.done()
        self.assertEqual(self.found, [False, False])

    def test_appended(self) -> None:
        """So is each of a list to which they are appended, and of a dict."""
        every = []
        named = {}
        every.append(self.begin())
        named["one"] = self.begin()
        for each in every:
            each.result()
        for name, each in named.items():
            each.get(name)
        self.assertEqual(self.found, [True, True])

    def test_functions(self) -> None:
        """A function that waits gets them; a method called ``wait`` is none."""
        every = [self.begin(each) for each in "1"]
        others = [self.begin(each) for each in "1"]
        wait(every)
        event = Mock()
        event.wait(others)
        self.assertEqual(self.found, [True, False])


def wait(_: Any) -> None:
    """Stand for the function of ``concurrent.futures``."""


class NameTests(SynchronousTestCase):
    """Functions, and the variables that they await."""

    def check(self, function: Any, *names: str) -> None:
        found = {name for _, name in awaited_names(function.__code__)}
        arguments = {*function.__code__.co_varnames[: function.__code__.co_argcount]} - {"at"}
        self.assertEqual(found & arguments, {*names}, function)

    def test_joined(self) -> None:
        """What functions of asyncio get that wait for it is awaited."""
        self.check(joined, "one", "other", "each", "many")

    def test_items(self) -> None:
        """So is what has what is awaited."""
        self.check(items, "many")

    def test_loops(self) -> None:
        """So is what a loop goes through that awaits its variable."""
        self.check(looped, "one", "other")
        self.check(listed, "many")
        self.check(completed, "many")

    def test_given(self) -> None:
        """What other functions get is not, nor is what a loop does something else with."""
        self.check(given)

    def test_at_once(self) -> None:
        """A call may say that its result is awaited at once."""
        found: list[bool] = []

        def make() -> Any:
            found.append(is_awaited(sys._getframe(1)))
            return asyncio.sleep(0)

        async def call() -> None:
            await make()
            made = make()
            await made

        asyncio.run(call())
        self.assertEqual(found, [True, False])
