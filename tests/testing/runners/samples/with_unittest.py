"""Run by unittest as a child."""

import os
import unittest
from typing import Any

from tests.testing.row_context import control
from trafficmock.testing.unittest import TestCase, TrafficMockMixin

APP, UPSTREAM = os.environ.get("SAMPLE_APP", ""), os.environ.get("SAMPLE_UPSTREAM", "")


class SampleTests(TrafficMockMixin, unittest.TestCase):
    """Two tests of an application; the second one's handler fails."""

    def get(self) -> Any:
        return control(APP, "request", {"kind": "http", "url": f"{UPSTREAM}/json/unittest"})

    def test_passes(self) -> None:
        self.trafficmock.route("**/unittest", lambda route, _: route.fulfill(body="mock"))
        self.assertEqual(self.get()["body"], "mock")

    def test_handler_fails(self) -> None:
        def broken(route: Any, request: Any) -> None:
            raise ValueError("in the handler")

        self.trafficmock.route("**/unittest", broken)
        self.get()


class OwnCaseTests(TestCase):
    """The test case that brings the mocks."""

    def test_fails(self) -> None:
        control(APP, "request", {"kind": "http", "url": f"{UPSTREAM}/json/own"})
        self.assertEqual(1, 2)

    def test_skipped(self) -> None:
        self.skipTest("not now")
