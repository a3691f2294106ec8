"""The pictures of the command line."""

from xml.etree import ElementTree as ET

from twisted.trial.unittest import SynchronousTestCase

from docs.terminal_pictures import COMMANDS, FOLDER, svg
from tests.command.recorded_proxy import CommandTestCase

_TEXT = "{http://www.w3.org/2000/svg}text"


def lines(picture: str) -> list[str]:
    """Read what a picture shows."""
    texts = ET.fromstring(picture).iter(_TEXT)  # noqa: S314 - our own picture
    return ["".join(text.itertext()).replace("\u00a0", " ") for text in texts]


class DrawingTests(SynchronousTestCase):
    """Text as SVG."""

    def test_same_text(self) -> None:
        """The picture has the lines of the terminal, with what XML would misread."""
        drawn = svg("trafficmock x", "\x1b[2ma  <b>\x1b[0m &\n\nlast\n")
        self.assertEqual(lines(drawn), ["$ trafficmock x", "a  <b> &", "", "last"])


class CommittedTests(CommandTestCase):
    """The pictures that the pages show."""

    def test_up_to_date(self) -> None:
        """They show the commands they name, with the columns that these have today."""
        for name, words in COMMANDS.items():
            command, *shown = lines((FOLDER / f"terminal-{name}.svg").read_text())
            self.assertEqual(command, f"$ trafficmock {' '.join(words)}")
            if name == "history":
                head = self.run_command("history").out.splitlines()[0]
                self.assertEqual(shown[0].split(), head.split())
            else:
                self.assertLessEqual({"Request", "Response", "Timeline"}, set(shown))
