"""Fixtures of pytest: applications, and the proxy's options."""

import json
import os
import unittest
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from twisted.trial.unittest import SynchronousTestCase

from tests.testing import runs
from trafficmock.testing.case_settings import CaseSettings
from trafficmock.testing.errors import ConnectionLostError
from trafficmock.testing.launch import process_proxy, start_proxy
from trafficmock.testing.unittest import TrafficMockMixin

SAMPLE = str(runs.REPOSITORY / "tests/testing/runners/samples/with_proxy_options.py")
WRONG = "--history-limit must be a whole number, 1 or more, not 'x'"


def capture(url: str) -> Any:
    with urlopen(f"{url}/health") as answer:
        return json.load(answer)["historyCapture"]


class PytestTests(SynchronousTestCase):
    """The option and the ini value."""

    def output(self, *options: str) -> str:
        return runs.run(*runs.lean_pytest(), *options, SAMPLE, environment=runs.LEAN, seconds=60)

    def test_given(self) -> None:
        """Either reaches the proxy; the option comes last, so it has precedence."""
        ini = "trafficmock_proxy_options=--history-capture none --tunnel '*.a.test'"
        option = "--trafficmock-proxy-options=--history-capture handled"
        self.assertIn("1 passed", self.output("-o", ini, option))
        self.assertIn("1 passed", self.output("-o", ini.replace("none", "handled")))

    def test_wrong(self) -> None:
        """A wrong option gives the proxy's own line, without a traceback."""
        output = self.output("--trafficmock-proxy-options=--history-limit x")
        self.assertIn(f"the proxy did not come up:\ntrafficmock: {WRONG}\n", output)
        self.assertNotIn("proxy_process.py", output)


class OtherRunnerTests(SynchronousTestCase):
    """What unittest and trial use."""

    def test_start(self) -> None:
        """``start_proxy`` has them as an argument."""
        proxy = start_proxy(options=["--history-capture", "handled"])
        self.addCleanup(proxy.stop)
        self.assertEqual(capture(proxy.url), "handled")
        with self.assertRaisesRegex(ConnectionLostError, WRONG):
            start_proxy(options=["--history-limit", "x"])

    def test_case(self) -> None:
        """A test case has them as an attribute; cases with the same ones share a proxy."""
        found = []

        class Case(TrafficMockMixin, unittest.TestCase):
            trafficmock_proxy_options = ("--history-capture", "handled")

            def test_it(self) -> None:
                connection, _ = self._trafficmock_mine or self.fail("no mocks")
                found.append(capture(connection.background.proxy_url))

        self.patch(os, "environ", {"PYTHONPATH": str(runs.REPOSITORY)})
        result = unittest.TestResult()
        Case("test_it").run(result)
        self.assertEqual((result.errors, found), ([], ["handled"]))
        proxy = process_proxy(*Case.trafficmock_proxy_options)
        self.addCleanup(proxy.stop)
        self.assertIs(process_proxy(*Case.trafficmock_proxy_options), proxy)
        self.assertEqual(CaseSettings.trafficmock_proxy_options, ())


APP_SAMPLE = str(runs.REPOSITORY / "tests/testing/runners/samples/with_application.py")


class FixtureTests(SynchronousTestCase):
    """A run of pytest with an application."""

    def test_run(self) -> None:
        """A megabyte of output in each test stops nothing; a failure has its own output."""
        environment = {**runs.LEAN, "XDG_DATA_HOME": str(Path(self.mktemp()).resolve())}
        output = runs.run(*runs.lean_pytest(), APP_SAMPLE, environment=environment, seconds=60)
        self.assertIn("2 failed, 3 passed, 1 error", output)
        _, _, fails = output.partition("_ test_fails _")
        fails, _, other = fails.partition("_ test_fails_without_it _")
        self.assertIn("- output of shop during this test -", fails)
        self.assertIn("code 404, message Not Found", fails)
        self.assertNotIn("xxxxx", fails)
        self.assertNotIn("output of shop", other.partition("short test summary")[0])
        _, _, broken = output.partition("ERROR at setup of test_broken")
        broken = broken.partition("= FAILURES =")[0]
        self.assertIn("ended with status 1 before it was ready (/x/ in its output)", broken)
        self.assertIn("ModuleNotFoundError: No module named 'no_such_module'", broken)
        self.assertNotIn("trafficmock/testing", broken)
