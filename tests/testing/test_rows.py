"""Every row on every adapter, against a real proxy, a real Node application and its upstream.

The application of the Python adapters has the npm agent, that of JavaScript has trafficmock's. With
DEEP each has the other too, and one that decides nothing locally.
"""

from collections.abc import Callable
from typing import Any

from twisted.trial import unittest

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.node_app import NodeApp
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
        return adapters.run_plainly(shared_app(), title, row)


class AsyncioTests(RowTests):
    """The rows with asyncio."""

    def perform(self, title: str, row: Row) -> Any:
        return adapters.run_asyncio(shared_app(), title, row)


class TwistedTests(RowTests):
    """The rows with Twisted."""

    def perform(self, title: str, row: Row) -> Any:
        return adapters.run_twisted(shared_app(), title, row)


class JavaScriptTests(RowTests):
    """The rows with the npm package, and trafficmock's agent."""

    def perform(self, title: str, row: Row) -> Any:
        return run_javascript(shared_app(agent="ours"), title, row)


class JavaScriptNpmAgentTests(RowTests):
    """The rows with the npm package, and the npm agent in the application."""

    def perform(self, title: str, row: Row) -> Any:
        return run_javascript(shared_app(), title, row)


def run_javascript(application: NodeApp, title: str, row: Row) -> None:
    if title in ONLY_PYTHON:
        raise unittest.SkipTest(ONLY_PYTHON[title])
    adapters.run_plainly(application, title, row, adapters.JAVASCRIPT)


class OwnAgentTests(RowTests):
    """The rows with blocking calls and trafficmock's agent, which decides locally."""

    def perform(self, title: str, row: Row) -> Any:
        return adapters.run_plainly(shared_app(agent="ours"), title, row)


class AskingAgentTests(RowTests):
    """The same where the agent asks about each request."""

    def perform(self, title: str, row: Row) -> Any:
        return adapters.run_plainly(shared_app("--local", "off", agent="ours"), title, row)


ONLY_PYTHON = {
    "matching_regex_only_python_has": "a RegExp is what the proxy reads: there is no other kind",
    "matching_ending_predicate": (
        "what a function throws is a value like any other; `process.exit` ends the process"
    ),
    "observing_predicate_at_the_end_of_an_iterator": "iterators of JavaScript end without an error",
    "observing_who_looks_at_nothing_is_told_nothing": (
        "a wait begins without being awaited, so the worker is told of its traffic before"
    ),
    "isolation_browsers_are_tagged": (
        "the fixtures tag the contexts of a test; for others there is cookie(url)"
    ),
}
"""Rows that mean nothing in JavaScript, with the reasons."""

CASES = (BlockingTests, AsyncioTests, TwistedTests, JavaScriptTests)
DEEP_CASES = (OwnAgentTests, AskingAgentTests, JavaScriptNpmAgentTests) if DEEP else ()


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
