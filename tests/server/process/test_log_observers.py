"""What people and machines see of the log."""

import json
import sys
from io import StringIO
from pathlib import Path

from twisted.logger import Logger, LogLevel, LogPublisher
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.process.log_observers import LEVELS, make_observer

ORDER = [LogLevel.debug, LogLevel.info, LogLevel.warn, LogLevel.error, LogLevel.critical]


class LogTestCase(SynchronousTestCase):
    """Catches standard output."""

    def setUp(self) -> None:
        self.output = StringIO()
        self.patch(sys, "stdout", self.output)

    def logger(self, level: str, namespace: str, *, as_json: bool = False) -> Logger:
        publisher = LogPublisher(make_observer("-", level, as_json=as_json))
        return Logger(namespace, observer=publisher)

    def shown(self, level: str, namespace: str) -> list[str]:
        """Log at every level and give the levels that were written."""
        self.output.truncate(0)
        log = self.logger(level, namespace)
        for each in ORDER:
            log.emit(each, "this is {name}", name=each.name)
        return [each.name for each in ORDER if f"this is {each.name}\n" in self.output.getvalue()]


class LevelTests(LogTestCase):
    """How much is logged."""

    def test_ours(self) -> None:
        """Our own events are shown from the chosen level on."""
        expected = {
            "silent": [],
            "error": ["error", "critical"],
            "warn": ["warn", "error", "critical"],
            "info": ["info", "warn", "error", "critical"],
            "debug": ["debug", "info", "warn", "error", "critical"],
        }
        self.assertEqual(tuple(expected), LEVELS)
        for level, names in expected.items():
            self.assertEqual(self.shown(level, "trafficmock.server.driver"), names)

    def test_libraries(self) -> None:
        """Libraries speak from warnings on, unless everything or less is wanted."""
        self.assertEqual(self.shown("info", "twisted.web"), ["warn", "error", "critical"])
        self.assertEqual(self.shown("error", "twisted.web"), ["error", "critical"])
        self.assertEqual(len(self.shown("debug", "twisted.web")), len(ORDER))


class FormTests(LogTestCase):
    """How a line looks."""

    def test_people(self) -> None:
        """A line has the time, the level and the text."""
        self.logger("info", "trafficmock").info("hello {who}", who="you")
        self.assertRegex(self.output.getvalue(), r"\A\d{4}-\d\d-\d\dT\S+ info  hello you\n\Z")

    def test_failure(self) -> None:
        """An internal failure comes with its traceback."""
        log = self.logger("info", "trafficmock")
        with log.failuresHandled("while testing"):
            raise ValueError("broken on purpose")
        self.assertIn("while testing", self.output.getvalue())
        self.assertIn("ValueError: broken on purpose", self.output.getvalue())

    def test_machines(self) -> None:
        """As JSON an event is one line that carries its fields."""
        log = self.logger("info", "trafficmock", as_json=True)
        log.warn("hello {who}", who="you")
        event = json.loads(self.output.getvalue().strip("\x1e\n"))
        self.assertEqual((event["who"], event["log_format"]), ("you", "hello {who}"))

    def test_file(self) -> None:
        """A file is appended to."""
        path = Path(self.mktemp())
        path.write_text("before\n")
        observer = make_observer(str(path), "info", as_json=False)
        Logger("trafficmock", observer=LogPublisher(observer)).info("after")
        self.assertRegex(path.read_text(), r"\Abefore\n.* after\n\Z")
