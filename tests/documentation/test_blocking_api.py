"""The blocking API of tests, which is made from the awaited one."""

import re
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tools import blocking_api

LEFT = re.compile(r"\bawait\b|Awaitable|\bAsync[A-Z]|\basync (def|with|for)\b|_async\b|Twisted")


class BlockingApiTests(SynchronousTestCase):
    """``trafficmock/testing/objects/blocking``."""

    def test_up_to_date(self) -> None:
        """Each file is as its source is; ``python -m tools.blocking_api`` writes them anew."""
        for path, text in blocking_api.files().items():
            self.assertEqual(path.read_text(encoding="utf-8"), text, path)

    def test_no_others(self) -> None:
        """Each file has a source."""
        there = set(blocking_api.BLOCKING.glob("*.py")) - {blocking_api.BLOCKING / "__init__.py"}
        self.assertEqual(there, set(blocking_api.files()))

    def test_nothing_awaits(self) -> None:
        """No word of the awaited API is left."""
        for path, text in blocking_api.files().items():
            code = text.partition("\n")[2]
            self.assertIsNone(LEFT.search(code), path)

    def test_rules(self) -> None:
        """Names, results, blocks and words are those of a blocking test."""
        source = Path(self.mktemp())
        source.write_text(
            "from collections.abc import Awaitable\n"
            "class AsyncThing:\n"
            '    """Within an ``async with`` block of an asyncio or Twisted test."""\n'
            "    async def __aenter__(self) -> AsyncThing:\n"
            "        await self.begin()\n"
            "    def all(self) -> Awaitable[list[AsyncThing]]: ...\n"
        )
        _, _, made = blocking_api.blocking(source).partition("\n")
        self.assertEqual(
            made,
            "class Thing:\n"
            '    """Within a ``with`` block of a blocking test."""\n'
            "    def __enter__(self) -> Thing:\n"
            "        self.begin()\n"
            "    def all(self) -> list[Thing]: ...\n",
        )
