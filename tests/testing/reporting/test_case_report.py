"""The reports of unittest, trial and scripts: by the variables alone."""

import json
import textwrap
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from twisted.trial.unittest import TestCase

from tests.report.test_run_document import SCHEMA
from tests.support.hypothesis_profiles import DEEP
from tests.testing.reporting.test_pytest_report import CALLS
from tests.testing.runs import run


class CaseReportTests(TestCase):
    """``TRAFFICMOCK_REPORT``."""

    if not DEEP:
        skip = "slow: set TRAFFICMOCK_DEEP=1"

    def ran(self, source: str, *command: str) -> dict[str, Any]:
        """Run a module with a report; give its document."""
        place = Path(self.mktemp()).absolute()
        place.mkdir()
        (place / "cases.py").write_text(CALLS + textwrap.dedent(source))
        report = {"TRAFFICMOCK_REPORT": "out"}
        said = run(*command, environment=report, cwd=place, path=str(place))
        if not (place / "out" / "run.json").exists():
            self.fail(said)
        document: dict[str, Any] = json.loads((place / "out" / "run.json").read_text())
        Draft202012Validator(SCHEMA).validate(document)
        return document

    def test_unittest(self) -> None:
        """Failing cases are in it: by their code, by their mocks, by what they clean up."""
        document = self.ran(
            """
            from trafficmock.testing.launch import process_proxy
            from trafficmock.testing.unittest import TestCase

            class Cases(TestCase):
                def ask(self):
                    self.trafficmock.mock("http://api.test/", json={})
                    call(process_proxy(), "http://api.test/")

                def test_passes(self):
                    self.ask()

                def test_fails(self):
                    self.ask()
                    self.fail("wrong")

                def test_mocks(self):
                    self.ask()
                    self.trafficmock.route("http://api.test/", lambda route: 1 / 0)
                    try:
                        call(process_proxy(), "http://api.test/")
                    except OSError:
                        pass

                def test_skips(self):
                    self.skipTest("no")
            """,
            *("unittest", "cases"),
        )
        self.assertEqual(document["counts"], {"failed": 2, "passed": 1, "skipped": 1})
        told = {test["title"]: len(test["requests"]) for test in document["tests"]}
        self.assertEqual(told, {"cases.Cases.test_fails": 1, "cases.Cases.test_mocks": 2})
        (failed,) = (test for test in document["tests"] if test["title"].endswith("fails"))
        self.assertIn("AssertionError: wrong", failed["error"])
        self.assertEqual(failed["file"], "cases.py")
        self.assertEqual(document["totals"]["requests"]["total"], 4)

    def test_trial(self) -> None:
        """So it is with trial."""
        document = self.ran(
            """
            from twisted.internet.threads import deferToThread

            from trafficmock.testing.launch import process_proxy
            from trafficmock.testing.trial import TestCase

            class Cases(TestCase):
                async def ask(self):
                    await self.trafficmock.mock("http://api.test/", json={})
                    await deferToThread(call, process_proxy(), "http://api.test/")

                async def test_passes(self):
                    await self.ask()

                async def test_fails(self):
                    await self.ask()
                    self.fail("wrong")
            """,
            *("twisted.trial", "cases"),
        )
        self.assertEqual(document["counts"], {"failed": 1, "passed": 1})
        (test,) = document["tests"]
        self.assertEqual((test["title"], len(test["requests"])), ("cases.Cases.test_fails", 1))
        self.assertIn("wrong", test["error"])

    def test_script(self) -> None:
        """Without a runner a ``mocks()`` block counts as a test."""
        document = self.ran(
            """
            with own_proxy() as proxy:
                with sync.mocks(proxy.url, title="first"):
                    pass
                with sync.mocks(proxy.url, title="second") as mocks:
                    mocks.mock("http://api.test/", json={})
                    call(proxy, "http://api.test/")
                    raise SystemError("wrong")
            """,
            "cases",
        )
        self.assertEqual(document["counts"], {"failed": 1, "passed": 1})
        (test,) = document["tests"]
        self.assertEqual((test["title"], len(test["requests"])), ("second", 1))
        self.assertIn("SystemError: wrong", test["error"])

    def test_tear_down(self) -> None:
        """A test that only its ``tearDown`` fails is in it, with its traffic."""
        for runner, begins, waits, threads in (
            ("unittest", "def", "", "call("),
            ("twisted.trial", "async def", "await ", "await deferToThread(call, "),
        ):
            with self.subTest(runner):
                document = self.ran(
                    f"""
                    from twisted.internet.threads import deferToThread

                    from trafficmock.testing.launch import process_proxy
                    from trafficmock.testing.{runner.rpartition(".")[2]} import TestCase

                    class Cases(TestCase):
                        {begins} test_passes(self):
                            {waits}self.trafficmock.mock("http://api.test/", json={{}})
                            {threads}process_proxy(), "http://api.test/")

                        def tearDown(self):
                            raise OSError("tidy")
                    """,
                    *(runner, "cases"),
                )
                self.assertEqual(document["counts"], {"failed": 1})
                (test,) = document["tests"]
                self.assertIn("tidy", test["error"])
                self.assertEqual(len(test["requests"]), 1)
