"""What users set of a report."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.errors import LocalError
from trafficmock.report.report_settings import BODY_BYTES, ReportSettings, report_settings

HERE = Path("/here")


class SettingsTests(SynchronousTestCase):
    """An option has precedence over a variable."""

    def test_none(self) -> None:
        """There is no report without a directory, or with the mode ``off``."""
        self.assertIsNone(report_settings({}, HERE))
        self.assertIsNone(report_settings({"TRAFFICMOCK_REPORT": ""}, HERE))
        self.assertIsNone(
            report_settings({"TRAFFICMOCK_REPORT": "r", "TRAFFICMOCK_REPORT_MODE": "off"}, HERE)
        )

    def test_variables(self) -> None:
        """The variables hold where nothing is given; the directory becomes absolute."""
        variables = {
            "TRAFFICMOCK_REPORT": "r",
            "TRAFFICMOCK_REPORT_MODE": "on",
            "TRAFFICMOCK_REPORT_BODY_BYTES": "10",
        }
        self.assertEqual(report_settings(variables, HERE), ReportSettings(HERE / "r", "on", 10))
        given = report_settings(variables, HERE, directory="/o", mode="retain-on-failure")
        self.assertEqual(given, ReportSettings(Path("/o"), "retain-on-failure", 10))
        default = report_settings({}, HERE, directory="/o")
        self.assertEqual(default, ReportSettings(Path("/o"), "retain-on-failure", BODY_BYTES))

    def test_wrong(self) -> None:
        """An invalid value is named, with what is allowed."""
        error = self.assertRaises(
            LocalError, report_settings, {}, HERE, directory="r", mode="always"
        )
        self.assertEqual(
            str(error), "the mode of a report is retain-on-failure, on, off; not 'always'"
        )
        variables = {"TRAFFICMOCK_REPORT": "r", "TRAFFICMOCK_REPORT_REDACT": "cookie"}
        error = self.assertRaises(LocalError, report_settings, variables, HERE)
        self.assertIn("'cookie'", str(error))
        for text in ("-1", "many", str(2**40), "٣"):
            variables = {"TRAFFICMOCK_REPORT": "r", "TRAFFICMOCK_REPORT_BODY_BYTES": text}
            error = self.assertRaises(LocalError, report_settings, variables, HERE)
            self.assertIn(f"a number from 0 to 8388608, not {text!r}", str(error))
