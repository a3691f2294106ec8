"""Every row on every adapter, against a real proxy, a real Node application and its upstream.

The application has the npm agent; with DEEP also trafficmock's, which may decide locally or not.
"""

from collections.abc import Callable
from typing import Any

from twisted.internet import reactor  # noqa: TID251 - trial's own
from twisted.trial import unittest

from tests.support.hypothesis_profiles import DEEP
from tests.testing import adapters
from tests.testing.row_context import Row
from tests.testing.rows import rows
from tests.testing.shared_app import shared_app


class RowTests(unittest.TestCase):
    """The parent of the adapters' test cases; each gets one test a row."""

    timeout = 60

    def perform(self, title: str, row: Row) -> Any:
        raise NotImplementedError


class BlockingTests(RowTests):
    """The rows with blocking calls."""

    def perform(self, title: str, row: Row) -> Any:
        return adapters.run_blocking(shared_app(), title, row)


class AsyncioTests(RowTests):
    """The rows with asyncio."""

    def perform(self, title: str, row: Row) -> Any:
        return adapters.run_asyncio(shared_app(), title, row)


class TwistedTests(RowTests):
    """The rows with Twisted."""

    def perform(self, title: str, row: Row) -> Any:
        return adapters.run_twisted(reactor, shared_app(), title, row)


class OwnAgentTests(RowTests):
    """The rows with blocking calls and trafficmock's agent, which decides locally."""

    def perform(self, title: str, row: Row) -> Any:
        return adapters.run_blocking(shared_app(agent="ours"), title, row)


class AskingAgentTests(RowTests):
    """The same where the agent asks about each request."""

    def perform(self, title: str, row: Row) -> Any:
        return adapters.run_blocking(shared_app("--local", "off", agent="ours"), title, row)


CASES = (BlockingTests, AsyncioTests, TwistedTests)
DEEP_CASES = (OwnAgentTests, AskingAgentTests) if DEEP else ()


def _test(title: str, row: Row) -> Callable[[RowTests], Any]:
    def test(self: RowTests) -> Any:
        return self.perform(title, row)

    test.__name__ = f"test_{title}"
    test.__doc__ = row.__doc__
    return test


def _add_tests() -> None:
    for title, row in rows():
        for case in (*CASES, *DEEP_CASES):
            setattr(case, f"test_{title}", _test(title, row))


_add_tests()
