"""Which variables a function awaits."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from trafficmock_preload.background.awaited_names import awaited_names, is_awaited
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
    await asyncio.wait_for(send(one), 5)
    for each in many:
        found.append(each)
    await asyncio.sleep(0)


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
